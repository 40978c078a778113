import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AbortedError, ApiError, Caudal, CaudalError, ConnectionError, TimeoutError } from '../src/index.ts';
import { API_KEY, cut, faultyServer, hang, json, PAYIN, problem, thrownBy } from './faulty-server.ts';

const CREATED = json({ id: 'p1', status: 'PROCESSING' }, 201);

describe('a creation', () => {
  it('carries an idempotency key of its own, and another one next time', async () => {
    const server = await faultyServer(CREATED);
    await server.client().payins.create(PAYIN);
    await server.client().payins.create(PAYIN);
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(2);
  });

  it.each([
    ['the connection is cut after the body was read', cut],
    ['the answer is 503 outcome_unknown', problem(503, 'outcome_unknown', { 'retry-after': '0' })],
    ['the answer is 503 overloaded', problem(503, 'overloaded', { 'retry-after': '0' })],
    ['the answer is 429', problem(429, 'too_many_lookups', { 'retry-after': '0' })],
    ['an equal request is still in flight', problem(409, 'idempotency_in_flight')],
    ['a proxy answers 502 with a page', page(502)],
    ['the answer is cut in the middle', brokenBody],
    ['the answer is not JSON', broken201],
  ])('is repeated with the same key and the same bytes when %s', async (_, first) => {
    const server = await faultyServer(first, CREATED);
    const payin = await server.client().payins.create(PAYIN, { maxRetries: 1 });
    expect(payin.id).toBe('p1');
    const [one, two] = server.requests;
    expect(server.requests).toHaveLength(2);
    expect(two?.headers['idempotency-key']).toBe(one?.headers['idempotency-key']);
    expect(two?.body).toBe(one?.body);
  });

  it('is repeated with the same key when no answer comes in time', async () => {
    const server = await faultyServer(hang, CREATED);
    await server.client({ timeoutMs: 200 }).payins.create(PAYIN, { idempotencyKey: 'order-1001' });
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'order-1001',
      'order-1001',
    ]);
  });

  it('that nobody answered says so, with the key by which it takes effect once', async () => {
    const server = await faultyServer(cut);
    const error = await thrownBy(server.client({ maxRetries: 1 }).payins.create(PAYIN));
    expect(error).toBeInstanceOf(ConnectionError);
    const { attempts, outcomeUnknown, idempotencyKey, message } = error as ConnectionError;
    expect({ attempts, outcomeUnknown }).toEqual({ attempts: 2, outcomeUnknown: true });
    expect(idempotencyKey).toBe(server.requests[0]?.headers['idempotency-key']);
    expect(message).toContain('may or may not have taken effect');
    expect(message).toContain(idempotencyKey);
  });

  it('whose last attempt was refused for load is still unknown when an earlier one was cut', async () => {
    const server = await faultyServer(cut, problem(503, 'overloaded', { 'retry-after': '0' }));
    const error = await thrownBy(server.client({ maxRetries: 1 }).payins.create(PAYIN));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'overloaded', outcomeUnknown: true, attempts: 2 });
  });

  it('refused for load by every attempt is known not to exist', async () => {
    const server = await faultyServer(problem(503, 'overloaded', { 'retry-after': '0' }));
    const error = await thrownBy(server.client({ maxRetries: 1 }).payins.create(PAYIN));
    expect(error).toMatchObject({ code: 'overloaded', outcomeUnknown: false, attempts: 2 });
  });

  it('that could not be sent at all is known not to exist', async () => {
    const error = await thrownBy(
      new Caudal({ apiKey: API_KEY, baseUrl: await closedPort(), maxRetries: 1 }).payins.create(PAYIN),
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
  ])('answered %s is not repeated', async (_, answer) => {
    const server = await faultyServer(answer);
    await thrownBy(server.client().payins.create(PAYIN));
    expect(server.requests).toHaveLength(1);
  });

  it('answered 500 is unknown, answered 400 is not', async () => {
    const server = await faultyServer(problem(500, 'internal_error'), problem(400, 'invalid_request'));
    expect(await thrownBy(server.client().payins.create(PAYIN))).toMatchObject({ outcomeUnknown: true });
    expect(await thrownBy(server.client().payins.create(PAYIN))).toMatchObject({ outcomeUnknown: false });
  });
});

describe('a write without an idempotency key', () => {
  it('that would do more the second time is not repeated when its outcome is unknown', async () => {
    const server = await faultyServer(cut);
    const error = await thrownBy(server.client().webhookEndpoints.rotateSecret('e1'));
    expect(server.requests).toHaveLength(1);
    expect(error).toMatchObject({ outcomeUnknown: true, idempotencyKey: null });
    expect((error as Error).message).toContain('read before you repeat');
    await thrownBy(server.client().webhookEndpoints.test('e1'));
    await thrownBy(server.client().events.replayMany({ failedSince: new Date(0) }));
    expect(server.requests).toHaveLength(3);
  });

  it('that would do more the second time is repeated when nothing was done', async () => {
    const server = await faultyServer(
      problem(503, 'service_unavailable', { 'retry-after': '0' }),
      json({ id: 'e1' }),
    );
    await server.client().webhookEndpoints.rotateSecret('e1');
    expect(server.requests).toHaveLength(2);
  });

  it('is not repeated after 503 outcome_unknown either', async () => {
    const server = await faultyServer(problem(503, 'outcome_unknown', { 'retry-after': '0' }));
    await thrownBy(server.client().webhookEndpoints.rotateSecret('e1'));
    expect(server.requests).toHaveLength(1);
  });

  it('that may be done twice is repeated', async () => {
    const server = await faultyServer(cut, json({ id: 'o1', status: 'CANCELED' }));
    await server.client().payouts.cancel('o1');
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /payouts/o1/cancel',
      'POST /payouts/o1/cancel',
    ]);
  });

  it('that deletes, and finds it gone after an attempt nobody answered, has deleted it', async () => {
    const server = await faultyServer(cut, problem(404, 'not_found'));
    expect(await server.client().webhookEndpoints.delete('e1')).toEqual({ id: 'e1', deleted: true });
  });

  it('that deletes what never was is told so', async () => {
    const server = await faultyServer(problem(404, 'not_found'));
    expect(await thrownBy(server.client().webhookEndpoints.delete('e1'))).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('waiting between attempts', () => {
  it('honours Retry-After', async () => {
    const server = await faultyServer(problem(429, 'too_many_lookups', { 'retry-after': '2' }), json({}));
    const began = performance.now();
    await server.client().balance.get();
    expect(performance.now() - began).toBeGreaterThan(1_950);
  });

  it('honours a Retry-After that is a date, by the clock of the answer', async () => {
    const dates = { date: 'Sat, 14 Nov 2026 15:00:00 GMT', 'retry-after': 'Sat, 14 Nov 2026 15:00:02 GMT' };
    const server = await faultyServer(problem(503, 'overloaded', dates), json({}));
    const began = performance.now();
    await server.client().balance.get();
    expect(performance.now() - began).toBeGreaterThan(1_950);
  });

  it('does not stand still for minutes: it tells the caller how long to wait', async () => {
    const server = await faultyServer(problem(503, 'rail_paused', { 'retry-after': '60' }));
    const error = await thrownBy(server.client().payins.create(PAYIN));
    expect(error).toMatchObject({ code: 'rail_paused', retryAfterMs: 60_000, attempts: 1 });
  });

  it('ends at once when the caller aborts', async () => {
    const server = await faultyServer(problem(503, 'overloaded', { 'retry-after': '20' }));
    const ending = new AbortController();
    const call = thrownBy(server.client().balance.get({ signal: ending.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    const began = performance.now();
    ending.abort();
    expect(await call).toBeInstanceOf(AbortedError);
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(server.requests).toHaveLength(1);
  });

  it('makes as many attempts as it was told, no more', async () => {
    const server = await faultyServer(cut);
    await thrownBy(server.client({ maxRetries: 0 }).balance.get());
    expect(server.requests).toHaveLength(1);
    await thrownBy(server.client().balance.get({ maxRetries: 2 }));
    expect(server.requests).toHaveLength(4);
  });
});

describe('the time of an attempt', () => {
  it('holds for an answer that never comes', async () => {
    const server = await faultyServer(hang);
    const error = await thrownBy(server.client({ timeoutMs: 150, maxRetries: 0 }).balance.get());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ outcomeUnknown: false });
  });

  it('holds for an answer whose body never ends', async () => {
    const server = await faultyServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"currency":');
    });
    const error = await thrownBy(server.client({ timeoutMs: 150, maxRetries: 0 }).balance.get());
    expect(error).toBeInstanceOf(TimeoutError);
  });

  it('is ended by the caller at any time, and a write so ended is unknown', async () => {
    const server = await faultyServer(hang);
    const ending = new AbortController();
    const call = thrownBy(server.client().payins.create(PAYIN, { signal: ending.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    ending.abort();
    const error = await call;
    expect(error).toBeInstanceOf(CaudalError);
    expect(error).toMatchObject({ name: 'AbortError', outcomeUnknown: true });
    expect(server.requests).toHaveLength(1);
  });

  it('is over before it began when the caller has aborted already: nothing is sent, and that is known', async () => {
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

/** Where nobody listens. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
