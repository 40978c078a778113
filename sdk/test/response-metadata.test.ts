import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../src/index.ts';
import { cut, faultyServer, json, PAYIN, problem, thrownBy } from './faulty-server.ts';

const CREATED = { id: 'p1', status: 'PROCESSING' };
const LIMITS = {
  'ratelimit-policy': '"writes";q=500;w=5, "key-writes";q=50;w=5',
  ratelimit: '"writes";r=498;t=1, "key-writes";r=0;t=1',
};

describe('withResponse', () => {
  it('returns request id, status, attempts, idempotency key and rate limits beside the data', async () => {
    const server = await faultyServer(cut, json(CREATED, 201, LIMITS));
    const { data, response } = await server
      .client()
      .payins.create(PAYIN, { idempotencyKey: 'order-1001' })
      .withResponse();
    expect(data.id).toBe('p1');
    expect(response).toEqual({
      status: 201,
      requestId: 'req_1',
      replayed: false,
      idempotencyKey: 'order-1001',
      attempts: 2,
      rateLimits: [
        { name: 'writes', quota: 500, windowSeconds: 5, remaining: 498, remainingSeconds: 1 },
        { name: 'key-writes', quota: 50, windowSeconds: 5, remaining: 0, remainingSeconds: 1 },
      ],
    });
    expect(server.requests).toHaveLength(2);
  });

  it('is a replay after a retry, too, when the lost first attempt created the payin', async () => {
    const server = await faultyServer(cut, json(CREATED, 201, { 'idempotent-replayed': 'true' }));
    const { response } = await server.client().payins.create(PAYIN).withResponse();
    expect(response).toMatchObject({ replayed: true, attempts: 2 });
  });

  it('tells that the response is a replay', async () => {
    const server = await faultyServer(json(CREATED, 201, { 'idempotent-replayed': 'true' }));
    const { response } = await server.client().payins.create(PAYIN).withResponse();
    expect(response.replayed).toBe(true);
  });

  it('sends one request when the call is awaited, too', async () => {
    const server = await faultyServer(json(CREATED, 201));
    const call = server.client().payins.create(PAYIN);
    const [payin, { data }] = [await call, await call.withResponse()];
    expect(data).toBe(payin);
    expect(server.requests).toHaveLength(1);
  });

  it('leaves the data plain: equal to its JSON, without further properties', async () => {
    const server = await faultyServer(json(CREATED, 201));
    const call = server.client().payins.create(PAYIN);
    expect(Object.keys(call)).toEqual([]);
    const payin = await call;
    assert.deepStrictEqual(payin, CREATED);
    expect(Reflect.ownKeys(payin)).toEqual(['id', 'status']);
  });

  it.each([
    {},
    { ratelimit: '100', 'ratelimit-policy': '100;w=60' },
    { ratelimit: '"writes";r=-1', 'ratelimit-policy': '"writes";q=5;w=5' },
    { ratelimit: '"reads";r=1;t=1', 'ratelimit-policy': '"writes";q=5;w=5' },
  ])('has no rate limits for the headers %o', async (headers: Record<string, string>) => {
    const server = await faultyServer(json({}, 200, headers));
    const { response } = await server.client().balance.get().withResponse();
    expect(response.rateLimits).toEqual([]);
  });

  it('rejects like the call, and neither rejection is unhandled', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      const server = await faultyServer(problem(404, 'not_found'));
      const error = await thrownBy(server.client().payins.get('p1').withResponse());
      expect(error).toBeInstanceOf(ApiError);
      expect(await thrownBy(server.client().payins.get('').withResponse())).toBeInstanceOf(TypeError);
      // Unhandled rejections are reported before the next macrotask.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(unhandled).toEqual([]);
  });

  it('keeps the function of the caller in the stack of an error', async () => {
    const server = await faultyServer(problem(404, 'not_found'));
    async function shipOrder() {
      await server.client().payins.get('p1');
    }
    expect(((await thrownBy(shipOrder())) as Error).stack).toMatch(/at async shipOrder/);
  });
});

describe('page.response', () => {
  it('is the response of that page, and no part of its JSON', async () => {
    const info = { hasPrevious: false, previousCursor: null };
    const server = await faultyServer(
      json({ data: [1], pageInfo: { ...info, hasNext: true, nextCursor: 'c' } }, 200, {
        'x-request-id': 'req_a',
      }),
      json({ data: [2], pageInfo: { ...info, hasNext: false, nextCursor: null } }, 200, {
        'x-request-id': 'req_b',
      }),
    );
    const ids: unknown[] = [];
    for await (const page of server.client().payins.list().pages()) {
      ids.push(page.response.requestId);
      expect(Object.keys(JSON.parse(JSON.stringify(page)) as object)).toEqual(['data', 'pageInfo']);
    }
    expect(ids).toEqual(['req_a', 'req_b']);
  });
});
