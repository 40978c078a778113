import { expect, test } from 'vitest';
import { randomFrom } from '../../chaos/src/run/random.ts';
import type { FuzzRequest } from '../src/generate/request.ts';
import { findInternalDetails } from '../src/oracle/internal-detail.ts';
import { LogCheck } from '../src/oracle/log-check.ts';
import { checkResponse } from '../src/oracle/oracle.ts';
import { findDifference } from '../src/probes/compare.ts';
import type { Probe } from '../src/probes/probe.ts';
import { unknownLike } from '../src/probes/unknown-value.ts';
import { CORRUPTIONS } from '../src/run/corruptions.ts';
import type { Answer } from '../src/wire/answer.ts';
import { readAnswer } from '../src/wire/read-answer.ts';
import { buildOracle, buildWorld } from './fixtures.ts';

const world = buildWorld(1);
const oracle = buildOracle(world);

function request(subject: string, target: string): FuzzRequest {
  return { index: 0, subject, method: 'GET', target, headers: [], body: null, tenant: 'a' };
}

function answer(status: number, type: string, body: string): Answer {
  const head = `HTTP/1.1 ${status} X\r\nx-request-id: req_1\r\ncontent-type: ${type}`;
  return { status, head, body: Buffer.from(body), ms: 3 };
}

const endpoint = {
  id: '01990000-0000-7000-8010-000000000001',
  organizationId: world.a.organizationId,
};
const events = {
  data: [],
  pageInfo: { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null },
};
const problem = {
  type: 'http://x.test/docs/errors/cursor_invalid',
  title: 'amapola-17',
  status: 400,
  detail: 'The cursor was not made by this service.',
  instance: `/events/${endpoint.id}`,
  code: 'cursor_invalid',
  requestId: 'req_1',
  organizationId: world.a.organizationId,
};

/** Correct responses, each with the requests that the corruptions look for. */
const CORRECT: readonly [FuzzRequest, Answer][] = [
  [request('listEvents', '/events'), answer(200, 'application/json', JSON.stringify(events))],
  [request('listEvents', '/events'), answer(400, 'application/problem+json', JSON.stringify(problem))],
  [request('checkout pages', '/checkout/l/x'), answer(200, 'text/html', '<p>amapola-17</p>')],
  [
    request('getBalance', '/balance'),
    answer(200, 'application/json', JSON.stringify(exampleOf('getBalance'))),
  ],
];

function exampleOf(id: string): unknown {
  const operation = Object.values(world.document.paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === id);
  const content = operation?.responses['200']?.content?.['application/json'] as
    | { example?: unknown }
    | undefined;
  return content?.example;
}

test('correct responses have no violations', () => {
  for (const [sent, received] of CORRECT)
    expect(checkResponse(oracle, sent, received).violations).toEqual([]);
});

test.each(CORRUPTIONS)('$name is detected', ({ rule, apply }) => {
  const planted = CORRECT.flatMap(([sent, received]) => {
    const corrupted = apply(sent, received, world);
    return corrupted
      ? [checkResponse(oracle, sent, corrupted).violations.map((violation) => violation.rule)]
      : [];
  });
  expect(planted.length).toBeGreaterThan(0);
  for (const rules of planted) expect(rules).toContain(rule);
});

test('every documented response is correct, and one with an unlisted member is not', () => {
  const documented = Object.values(world.document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { content }]) => {
        const media = content?.['application/json'] as { readonly example?: object } | undefined;
        return media?.example ? [{ id: operationId, status: Number(status), example: media.example }] : [];
      }),
    );
  expect(documented.length).toBeGreaterThan(30);
  const accepted = documented.filter(({ id, status, example }) => {
    const operation = oracle.operations.find((each) => each.id === id);
    const validate = operation ? oracle.validators.response(operation, status) : null;
    expect({ id, violation: validate?.(example) }).toEqual({ id, violation: null });
    return validate?.({ ...example, unlisted: 1 }) === null;
  });
  // An event with its deliveries consists of two schemas, neither of which can exclude members of the other.
  expect(accepted.map(({ id }) => id)).toEqual(['getEvent']);
});

test('a value that the request contained is not foreign', () => {
  const body = JSON.stringify({ ...problem, detail: world.b.organizationId });
  const received = answer(400, 'application/problem+json', body);
  const rules = (target: string) =>
    checkResponse(oracle, request('listEvents', target), received).violations.map(({ rule }) => rule);
  expect(rules('/events')).toEqual(['foreign data']);
  expect(rules(`/events?resourceId=${world.b.organizationId}`)).toEqual([]);
});

test.each([
  ['an error', '{"level":"error","code":"internal_error"}'],
  ['personal data', '{"level":"info","reason":"amapola-12"}'],
  ['a phone number', '{"level":"info","reason":"+573007711123"}'],
  ['an API key', `{"level":"info","reason":"${world.a.apiKey}"}`],
  ['output of a crash', 'TypeError: x is not a function'],
])('the log check notices %s', (_, line) => {
  const logs = new LogCheck();
  logs.read('{"level":"info","code":"request_completed","keyId":"01AAAAAAAAAAAAAA"}');
  expect(logs.found).toBe(0);
  logs.read(line);
  expect(logs.found).toBe(1);
});

test('probes compare answers without ids and paths of the request', () => {
  const probe = { changes: false } as Probe;
  const one = answer(
    404,
    'application/problem+json',
    JSON.stringify({ ...problem, requestId: 'req_2', instance: '/x' }),
  );
  const other = answer(404, 'application/problem+json', JSON.stringify(problem));
  expect(findDifference(probe, one, other)).toBeNull();
  expect(findDifference(probe, { ...one, status: 403 }, other)).toContain('403');
  expect(findDifference(probe, answer(404, 'application/problem+json', '{"detail":"x"}'), other)).toContain(
    'x',
  );
});

test('an unknown value has the form of the known one', () => {
  const random = randomFrom(1);
  const id = '019b2c5e-8f3a-7c41-8011-3f9d2b7a6c10';
  const unknown = unknownLike(random, id);
  expect(unknown).toMatch(/^019b2c5e-8f3a-7[0-9a-f]{3}-801[0-9a-f]-[0-9a-f]{12}$/);
  expect(unknown).not.toBe(id);
  expect(unknownLike(random, '@CDL0102H3K9M2X7QWER')).toMatch(/^@CDL0102H3/);
  expect(unknownLike(random, '@CDL0102H3K9M2X7QWER')).not.toBe('@CDL0102H3K9M2X7QWER');
});

test.each([
  ['a length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokrest', 'ok', true],
  [
    'chunks',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n',
    'ok',
    true,
  ],
  [
    'an interim response',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'ok',
    true,
  ],
  ['no length', 'HTTP/1.1 200 OK\r\n\r\nok', 'ok', false],
])('reads a response with %s', (_, text, body, complete) => {
  const read = readAnswer(Buffer.from(text), false);
  expect(read?.body.toString()).toBe(body);
  expect(read?.complete).toBe(complete);
  expect(readAnswer(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no'), false)).toBeNull();
});

test.each([
  ['relation pg_stat_activity does not exist', ['pg_stat_activity']],
  ['<style nonce="pg_eCTxx7ObO_MiebZsxcg">', []],
  ['<input value="X-pg_abc">', []],
])('internal details in %s: %j', (text, found) => {
  expect(findInternalDetails(text)).toEqual(found);
});
