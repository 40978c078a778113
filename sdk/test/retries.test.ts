import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { expectWithin, stopwatch } from '../../scripts/testing/expect-within.ts';
import { until } from '../../server/test/harness/until.ts';
import {
  AbortedError,
  ApiError,
  Caudal,
  CaudalError,
  ConnectionError,
  type ResponseEvent,
  TimeoutError,
} from '../src/index.ts';
import { API_KEY, cut, faultyServer, hang, json, PAYIN, problem, thrownBy } from './faulty-server.ts';

const CREATED = json({ id: 'p1', status: 'PROCESSING' }, 201);
/** No process gets a port of the system that it did not ask for. */
const CLOSED_PORT = 'http://127.0.0.1:2';

describe('a creation', () => {
  it('has a new idempotency key per call', async () => {
    const server = await faultyServer(CREATED);
    await server.client().payins.create(PAYIN);
    await server.client().payins.create(PAYIN);
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(2);
  });

  it.each([
    ['the connection is cut after the body was read', cut],
    ['the response is 503 outcome_unknown', problem(503, 'outcome_unknown', { 'retry-after': '0' })],
    ['the response is 503 overloaded', problem(503, 'overloaded', { 'retry-after': '0' })],
    ['the response is 429', problem(429, 'too_many_lookups', { 'retry-after': '0' })],
    ['an equal request is still in flight', problem(409, 'idempotency_in_flight')],
    ['a proxy returns a 502 page', page(502)],
    ['the response is cut off', brokenBody],
    ['the response is not JSON', broken201],
  ])('is retried with the same idempotency key and body when %s', async (_, first) => {
    const server = await faultyServer(first, CREATED);
    const payin = await server.client().payins.create(PAYIN, { maxRetries: 1 });
    expect(payin.id).toBe('p1');
    const [one, two] = server.requests;
    expect(server.requests).toHaveLength(2);
    expect(two?.headers['idempotency-key']).toBe(one?.headers['idempotency-key']);
    expect(two?.body).toBe(one?.body);
  });

  it('is retried with the same idempotency key after a timeout', async () => {
    const errors: unknown[] = [];
    const hooks = { onResponse: ({ error }: ResponseEvent) => void errors.push(error) };
    const server = await faultyServer(hang, CREATED);
    // A stalled machine times out more attempts than the first, and may not send one that it times out.
    const patient = server.client({ timeoutMs: 1000, maxRetries: 100, hooks });
    await patient.payins.create(PAYIN, { idempotencyKey: 'order-1001' });
    expect(errors[0]).toMatchObject({ name: 'TimeoutError' });
    expect(errors.at(-1)).toBeNull();
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key']))).toEqual(
      new Set(['order-1001']),
    );
  });

  it('without a response throws outcomeUnknown and the idempotency key', async () => {
    const server = await faultyServer(cut);
    const error = await thrownBy(server.client({ maxRetries: 1 }).payins.create(PAYIN));
    expect(error).toBeInstanceOf(ConnectionError);
    const { attempts, outcomeUnknown, idempotencyKey, message } = error as ConnectionError;
    expect({ attempts, outcomeUnknown }).toEqual({ attempts: 2, outcomeUnknown: true });
    expect(idempotencyKey).toBe(server.requests[0]?.headers['idempotency-key']);
    expect(message).toContain('may or may not have taken effect');
    expect(message).toContain(idempotencyKey);
  });

  it('keeps outcomeUnknown when a lost response is followed by 503 overloaded', async () => {
    const server = await faultyServer(cut, problem(503, 'overloaded', { 'retry-after': '0' }));
    const error = await thrownBy(server.client({ maxRetries: 1 }).payins.create(PAYIN));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'overloaded', outcomeUnknown: true, attempts: 2 });
  });

  it('has a known outcome when every attempt returned 503 overloaded', async () => {
    const server = await faultyServer(problem(503, 'overloaded', { 'retry-after': '0' }));
    const error = await thrownBy(server.client({ maxRetries: 1 }).payins.create(PAYIN));
    expect(error).toMatchObject({ code: 'overloaded', outcomeUnknown: false, attempts: 2 });
  });

  it('has a known outcome when it could not be sent', async () => {
    const error = await thrownBy(
      new Caudal({ apiKey: API_KEY, baseUrl: CLOSED_PORT, maxRetries: 1 }).payins.create(PAYIN),
    );
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ outcomeUnknown: false, attempts: 2 });
    expect((error as Error).message).toContain('ECONNREFUSED');
  });

  it.each([
    ['400', problem(400, 'invalid_request')],
    ['409 reference_taken', problem(409, 'reference_taken')],
    ['422', problem(422, 'idempotency_mismatch')],
    ['500', problem(500, 'internal_error')],
  ])('is not retried after %s', async (_, response) => {
    const server = await faultyServer(response);
    await thrownBy(server.client().payins.create(PAYIN));
    expect(server.requests).toHaveLength(1);
  });

  it('has an unknown outcome after 500, but not after 400', async () => {
    const server = await faultyServer(problem(500, 'internal_error'), problem(400, 'invalid_request'));
    expect(await thrownBy(server.client().payins.create(PAYIN))).toMatchObject({ outcomeUnknown: true });
    expect(await thrownBy(server.client().payins.create(PAYIN))).toMatchObject({ outcomeUnknown: false });
  });
});

describe('a write without an idempotency key', () => {
  it('that is not idempotent is not retried when its outcome is unknown', async () => {
    const server = await faultyServer(cut);
    const error = await thrownBy(server.client().webhookEndpoints.rotateSecret('e1'));
    expect(server.requests).toHaveLength(1);
    expect(error).toMatchObject({ outcomeUnknown: true, idempotencyKey: null });
    expect((error as Error).message).toContain('check the resource before you retry');
    await thrownBy(server.client().webhookEndpoints.test('e1'));
    await thrownBy(server.client().events.replayMany({ failedSince: new Date(0) }));
    expect(server.requests).toHaveLength(3);
  });

  it('that is not idempotent is retried when the server did nothing', async () => {
    const server = await faultyServer(
      problem(503, 'service_unavailable', { 'retry-after': '0' }),
      json({ id: 'e1' }),
    );
    await server.client().webhookEndpoints.rotateSecret('e1');
    expect(server.requests).toHaveLength(2);
  });

  it('is not retried after 503 outcome_unknown', async () => {
    const server = await faultyServer(problem(503, 'outcome_unknown', { 'retry-after': '0' }));
    await thrownBy(server.client().webhookEndpoints.rotateSecret('e1'));
    expect(server.requests).toHaveLength(1);
  });

  it('that is idempotent is retried', async () => {
    const server = await faultyServer(cut, json({ id: 'o1', status: 'CANCELED' }));
    await server.client().payouts.cancel('o1');
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /payouts/o1/cancel',
      'POST /payouts/o1/cancel',
    ]);
  });

  it('treats 404 on a retried delete as deleted', async () => {
    const server = await faultyServer(cut, problem(404, 'not_found'));
    expect(await server.client().webhookEndpoints.delete('e1')).toEqual({ id: 'e1', deleted: true });
  });

  it('throws not_found for a delete of a missing resource', async () => {
    const server = await faultyServer(problem(404, 'not_found'));
    expect(await thrownBy(server.client().webhookEndpoints.delete('e1'))).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('the delay between attempts', () => {
  it('honors Retry-After', async () => {
    const server = await faultyServer(problem(429, 'too_many_lookups', { 'retry-after': '2' }), json({}));
    const elapsedMs = stopwatch();
    await server.client().balance.get();
    expect(elapsedMs()).toBeGreaterThan(1_950);
  });

  it('honors a Retry-After date relative to the Date header', async () => {
    const dates = { date: 'Sat, 14 Nov 2026 15:00:00 GMT', 'retry-after': 'Sat, 14 Nov 2026 15:00:02 GMT' };
    const server = await faultyServer(problem(503, 'overloaded', dates), json({}));
    const elapsedMs = stopwatch();
    await server.client().balance.get();
    expect(elapsedMs()).toBeGreaterThan(1_950);
  });

  it('throws with retryAfterMs instead of waiting for minutes', async () => {
    const server = await faultyServer(problem(503, 'rail_paused', { 'retry-after': '60' }));
    const error = await thrownBy(server.client().payins.create(PAYIN));
    expect(error).toMatchObject({ code: 'rail_paused', retryAfterMs: 60_000, attempts: 1 });
  });

  it('ends when the caller aborts', async () => {
    const server = await faultyServer(problem(503, 'overloaded', { 'retry-after': '20' }));
    const ending = new AbortController();
    const call = thrownBy(server.client().balance.get({ signal: ending.signal }));
    await until('the request arrived', () => Promise.resolve(server.requests.length === 1));
    const elapsedMs = stopwatch();
    ending.abort();
    expect(await call).toBeInstanceOf(AbortedError);
    expectWithin('the end of an aborted call', elapsedMs(), 1_000);
    expect(server.requests).toHaveLength(1);
  });

  it('makes at most maxRetries + 1 attempts', async () => {
    const server = await faultyServer(cut);
    await thrownBy(server.client({ maxRetries: 0 }).balance.get());
    expect(server.requests).toHaveLength(1);
    await thrownBy(server.client().balance.get({ maxRetries: 2 }));
    expect(server.requests).toHaveLength(4);
  });
});

describe('the timeout of an attempt', () => {
  it('applies to a response that never starts', async () => {
    const server = await faultyServer(hang);
    const error = await thrownBy(server.client({ timeoutMs: 150, maxRetries: 0 }).balance.get());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ outcomeUnknown: false });
  });

  it('applies to a body that never ends', async () => {
    const server = await faultyServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"currency":');
    });
    const error = await thrownBy(server.client({ timeoutMs: 150, maxRetries: 0 }).balance.get());
    expect(error).toBeInstanceOf(TimeoutError);
  });

  it('an abort by the caller leaves a write with an unknown outcome', async () => {
    const server = await faultyServer(hang);
    const ending = new AbortController();
    const call = thrownBy(server.client().payins.create(PAYIN, { signal: ending.signal }));
    await until('the request arrived', () => Promise.resolve(server.requests.length === 1));
    ending.abort();
    const error = await call;
    expect(error).toBeInstanceOf(CaudalError);
    expect(error).toMatchObject({ name: 'AbortError', outcomeUnknown: true });
    expect(server.requests).toHaveLength(1);
  });

  it('an earlier abort sends nothing, and the outcome is known', async () => {
    const server = await faultyServer(CREATED);
    const error = await thrownBy(server.client().payins.create(PAYIN, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ name: 'AbortError', outcomeUnknown: false });
    expect(server.requests).toHaveLength(0);
  });
});

function page(status: number) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
  };
}

function brokenBody(response: ServerResponse): void {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '500' });
  response.write('{"id":"p1",', () => response.destroy());
}

function broken201(response: ServerResponse): void {
  response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"p1"');
}
