import { afterEach, describe, expect, it, vi } from 'vitest';
import { Caudal, type RequestEvent, type ResponseEvent } from '../src/index.ts';
import { API_KEY, cut, faultyServer, hang, json, PAYIN, problem, thrownBy } from './faulty-server.ts';

const CREATED = json({ id: 'p1' }, 201);

afterEach(() => vi.restoreAllMocks());

function recorder() {
  const requests: RequestEvent[] = [];
  const responses: ResponseEvent[] = [];
  const hooks = {
    onRequest: (event: RequestEvent) => void requests.push(event),
    onResponse: (event: ResponseEvent) => void responses.push(event),
  };
  return { requests, responses, hooks };
}

describe('hooks', () => {
  it('are called once per attempt, with its result and the retry decision', async () => {
    const { requests, responses, hooks } = recorder();
    const server = await faultyServer(cut, problem(429, 'rate_limited', { 'retry-after': '0' }), CREATED);
    const call = server.client({ hooks }).payins.create(PAYIN, { idempotencyKey: 'order-1001' });
    await call;
    const request = {
      operation: 'payins.create',
      method: 'POST',
      path: '/payins',
      idempotencyKey: 'order-1001',
    };
    expect(requests).toEqual([1, 2, 3].map((attempt) => ({ ...request, attempt })));
    const durationMs = expect.any(Number) as number;
    const retryInMs = expect.any(Number) as number;
    const ended = { ...request, replayed: false, durationMs };
    expect(responses).toEqual([
      {
        ...ended,
        attempt: 1,
        status: null,
        requestId: null,
        error: { name: 'ConnectionError', code: 'UND_ERR_SOCKET' },
        retryInMs,
      },
      {
        ...ended,
        attempt: 2,
        status: 429,
        requestId: 'req_1',
        error: { name: 'ApiError', code: 'rate_limited' },
        retryInMs,
      },
      { ...ended, attempt: 3, status: 201, requestId: 'req_1', error: null, retryInMs: null },
    ]);
  });

  it('report the last failure without a retry', async () => {
    const { responses, hooks } = recorder();
    const server = await faultyServer(hang);
    await thrownBy(server.client({ hooks, timeoutMs: 50, maxRetries: 0 }).balance.get());
    expect(responses).toMatchObject([{ status: null, error: { name: 'TimeoutError' }, retryInMs: null }]);
    expect(responses[0]?.durationMs).toBeGreaterThanOrEqual(49);
  });

  it('report replays, and paths without their query', async () => {
    const { responses, hooks } = recorder();
    const server = await faultyServer(json({ data: [] }, 200, { 'idempotent-replayed': 'true' }));
    await server.client({ hooks }).payins.list({ reference: 'order-1001' });
    expect(responses).toMatchObject([{ path: '/payins', replayed: true, error: null }]);
  });

  it('never contain the credential, a body or a header', async () => {
    const { requests, responses, hooks } = recorder();
    const page = '<html>an excerpt of a page</html>';
    const server = await faultyServer(
      (response) => void response.writeHead(502, { 'x-internal': 'header' }).end(page),
      json({ id: 'in-the-response', access_token: 'cdl_test_at_kept-secret' }, 201),
    );
    const caudal = server.client({ hooks });
    await caudal.payins.create({ ...PAYIN, reference: 'in-the-request' });
    await caudal.accessTokens.create();
    await new Caudal({ accessToken: 'kept-secret-token', baseUrl: server.url, hooks }).balance.get();
    const text = JSON.stringify([requests, responses]);
    expect(requests.length).toBe(responses.length);
    expect(requests.length).toBeGreaterThan(3);
    for (const secret of ['kept-secret', API_KEY, 'in-the-request', 'in-the-response', 'excerpt', 'header'])
      expect(text).not.toContain(secret);
  });

  it('are not called for a call that was aborted before it was sent', async () => {
    const { requests, responses, hooks } = recorder();
    const server = await faultyServer(json({}));
    await thrownBy(server.client({ hooks }).balance.get({ signal: AbortSignal.abort() }));
    expect([...requests, ...responses]).toEqual([]);
  });

  it.each([
    ['throws', () => () => fail()],
    ['rejects', () => () => Promise.reject(new Error('the log is full'))],
    [
      'returns a hostile thenable',
      () => () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- what the test is about
        get then() {
          return fail();
        },
      }),
    ],
  ])('do not change the outcome when a hook %s: it is reported once on console.error', async (_, hook) => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const server = await faultyServer(cut, CREATED);
    const caudal = server.client({ hooks: { onRequest: hook(), onResponse: hook() } });
    const payin = await caudal.payins.create(PAYIN);
    await caudal.payins.create(PAYIN);
    expect(payin).toEqual({ id: 'p1' });
    expect(server.requests).toHaveLength(3);
    expect(reported.mock.calls.map(([text]) => text as string).sort()).toEqual([
      '@caudal/sdk: hooks.onRequest failed, calls continue (reported once):',
      '@caudal/sdk: hooks.onResponse failed, calls continue (reported once):',
    ]);
    expect(reported.mock.calls[0]?.[1]).toMatchObject({ message: 'the log is full' });
  });

  it('cannot change the request or the retry decision through their argument', async () => {
    const server = await faultyServer(problem(400, 'invalid_request'));
    const overwrite = (event: object) => Object.assign(event, { path: '/payouts', retryInMs: 1, attempt: 0 });
    const caudal = server.client({ hooks: { onRequest: overwrite, onResponse: overwrite } });
    expect(await thrownBy(caudal.payins.create(PAYIN))).toMatchObject({ status: 400, attempts: 1 });
    expect(server.requests.map(({ path }) => path)).toEqual(['/payins']);
  });

  it('are called for each connection of an event stream', async () => {
    const { requests, responses, hooks } = recorder();
    const event = '019b2c5e-c1d2-7e3f-8001-8b9c0d1e2f3a';
    const server = await faultyServer(problem(503, 'overloaded', { 'retry-after': '0' }), (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_2' });
      response.write(`data: {"id":"${event}"}\n\n`);
    });
    for await (const { id } of server
      .client({ hooks })
      .events.stream({ lastEventId: event.replace('c1', 'b1') })) {
      expect(id).toBe(event);
      break;
    }
    expect(requests).toHaveLength(2);
    expect(responses).toMatchObject([
      {
        operation: 'events.stream',
        path: '/events/stream',
        status: 503,
        requestId: 'req_1',
        error: { name: 'ApiError', code: 'overloaded' },
        retryInMs: expect.any(Number) as number,
      },
      { status: 200, requestId: 'req_2', error: null, retryInMs: null, attempt: 2 },
    ]);
  });
});

function fail(): never {
  throw new Error('the log is full');
}
