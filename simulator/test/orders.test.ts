import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectWithin } from '../../scripts/testing/expect-within.ts';
import { cleanUp, type Simulator, startSimulator } from './harness.ts';
import {
  endOrder,
  getExecutions,
  getOrder,
  newId,
  order,
  queryOrders,
  send,
  startOrderSimulator,
  untilEnded,
  untilOver,
} from './order-driver.ts';
import { journal } from './payer.ts';
import { type BrebClient, brebClient, call } from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;

beforeAll(async () => {
  simulator = await startOrderSimulator();
  breb = await brebClient(simulator);
});
afterAll(cleanUp);

test('an order is PROCESSING until it is due, then SETTLED and executed once, and can be queried by either id', async () => {
  const sent = order('@testok');
  const { endToEndId, internalId } = sent;
  expect(await send(breb, sent)).toEqual([{ endToEndId, status: 'PROCESSING' }]);
  const expected = { endToEndId, internalId, amount: '49800.00', code: null, at: expect.any(String) };
  expect(await queryOrders(breb, endToEndId)).toEqual([
    { ...expected, status: 'PROCESSING', executionId: null },
  ]);
  expect(await getExecutions(simulator, endToEndId)).toEqual([]);

  const { executionId, endedAt } = await untilEnded(simulator, endToEndId);
  const settled = { ...expected, status: 'SETTLED', executionId, at: endedAt };
  expect(await queryOrders(breb, endToEndId)).toEqual([settled]);
  expect((await breb('orders/query', { internalIds: [internalId] })).body).toEqual({ results: [settled] });
  expect(await getExecutions(simulator, endToEndId)).toEqual([
    { endToEndId, internalId, executionId, amount: '49800.00', key: '@TESTOK', at: endedAt },
  ]);
  const about = async (kind: string) =>
    (await journal(simulator, kind)).filter((line) => line['endToEndId'] === endToEndId);
  expect(await about('breb.executed')).toMatchObject([
    { executionId, key: '@TESTOK', amount: '49800.00', anyway: false },
  ]);
  expect(await about('breb.order-ended')).toMatchObject([
    { outcome: 'SETTLED', code: null, contradicts: false },
  ]);
});

test('an order settles about one second after its intake by default', async () => {
  const defaultSimulator = await startSimulator();
  const { endToEndId } = order('@TESTOK');
  await send(await brebClient(defaultSimulator), order('@TESTOK', { endToEndId }));
  const { receivedAt, endedAt } = await untilOver(defaultSimulator, endToEndId);
  const tookMs = Date.parse(endedAt ?? '') - Date.parse(receivedAt);
  expect(tookMs).toBeGreaterThanOrEqual(1000);
  expectWithin('the settlement of an order', tookMs, 5000);
});

test.each([
  ['@TESTOK', 'SETTLED', null],
  ['@TESTDECLINED', 'REJECTED', '4010'],
  ['@TESTSUSPENDED', 'REJECTED', '0005'],
  ['@TESTNOTFOUND', 'REJECTED', '0004'],
  ['@NOBODY123', 'REJECTED', '0004'],
  ['3001234567', 'REJECTED', '0004'],
])('an order to %s ends with status %s and code %s', async (key, status, code) => {
  const sent = order(key);
  expect(await send(breb, sent)).toMatchObject([{ status: 'PROCESSING' }]);
  expect(await untilEnded(simulator, sent.endToEndId)).toMatchObject({ status, code });
  expect(await queryOrders(breb, sent.endToEndId)).toMatchObject([{ status, code }]);
  const money = await getExecutions(simulator, sent.endToEndId);
  expect(money).toHaveLength(status === 'SETTLED' ? 1 : 0);
});

test('an order to @TESTTIMEOUT stays PROCESSING after it is due, until the control API ends it', async () => {
  const [stuck, later] = [order('@TESTTIMEOUT'), order('@TESTOK')];
  await send(breb, stuck, later);
  await untilEnded(simulator, later.endToEndId);
  expect(await queryOrders(breb, stuck.endToEndId)).toMatchObject([{ status: 'PROCESSING' }]);
  const { endToEndId } = stuck;
  expect((await endOrder(simulator, { endToEndId, outcome: 'SETTLED' })).status).toBe(200);
  expect(await queryOrders(breb, endToEndId)).toMatchObject([{ status: 'SETTLED' }]);
  expect(await getExecutions(simulator, endToEndId)).toHaveLength(1);
});

test('an order to @TESTLOSTANSWER loses the answer of the whole call, and all its orders are executed once', async () => {
  const sent = [order('@TESTOK'), order('@TESTLOSTANSWER')];
  const ids = sent.map(({ endToEndId }) => endToEndId);
  await expect(send(breb, ...sent)).rejects.toThrow('fetch failed');
  expect(await queryOrders(breb, ...ids)).toMatchObject([{ status: 'PROCESSING' }, { status: 'PROCESSING' }]);
  // The retry stores no new order, so its answer is not lost.
  expect(await send(breb, ...sent)).toMatchObject([{ status: 'DUPLICATE' }, { status: 'DUPLICATE' }]);
  for (const id of ids) expect(await untilEnded(simulator, id)).toMatchObject({ status: 'SETTLED' });
  expect(await getExecutions(simulator, ...ids)).toHaveLength(2);
});

test('an order with a known end-to-end id is a DUPLICATE with any content: in one call, later, and after the end', async () => {
  const { endToEndId } = order('@TESTOK');
  const again = (key = '@TESTOK', changes: object = {}) => order(key, { endToEndId, ...changes });
  const duplicate = { endToEndId, status: 'DUPLICATE', code: '5001' };
  expect(await send(breb, again(), again())).toEqual([{ endToEndId, status: 'PROCESSING' }, duplicate]);
  expect(await send(breb, again('@TESTDECLINED'), again('no key at all'))).toEqual([duplicate, duplicate]);
  expect(await send(breb, again('@TESTOK', { amount: '99999999.00' }))).toEqual([duplicate]);
  await untilEnded(simulator, endToEndId);
  expect(await send(breb, again(), order('@TESTOK'))).toMatchObject([duplicate, { status: 'PROCESSING' }]);
  expect(await queryOrders(breb, endToEndId)).toMatchObject([{ status: 'SETTLED', amount: '49800.00' }]);

  const rejected = order('@TESTDECLINED');
  await send(breb, rejected);
  await untilEnded(simulator, rejected.endToEndId);
  const { endToEndId: other } = rejected;
  expect(await send(breb, order('@TESTOK', { endToEndId: other }))).toMatchObject([{ status: 'DUPLICATE' }]);
  await untilEnded(simulator, (await sendLaterOrder()).endToEndId);
  expect(await getExecutions(simulator, endToEndId, other)).toHaveLength(1);
});

/** Sends an order. When it has ended, all orders due before it have ended too. */
async function sendLaterOrder() {
  const later = order('@TESTOK');
  await send(breb, later);
  return later;
}

test('parallel calls with the same order accept it once and answer DUPLICATE to the others', async () => {
  const sent = order('@TESTOK');
  const results = await Promise.all(Array.from({ length: 20 }, () => send(breb, sent)));
  const count = (wanted: string) => results.filter(([result]) => result?.status === wanted).length;
  expect([count('PROCESSING'), count('DUPLICATE')]).toEqual([1, 19]);
  await untilEnded(simulator, sent.endToEndId);
  expect(await getExecutions(simulator, sent.endToEndId)).toHaveLength(1);
});

test('orders with different end-to-end ids are all executed, even with the same internal id', async () => {
  const internalId = randomUUID();
  const [first, second] = [order('@TESTOK', { internalId }), order('@TESTOK', { internalId })];
  await send(breb, first);
  await send(breb, second);
  for (const { endToEndId } of [first, second]) await untilEnded(simulator, endToEndId);
  expect(await getExecutions(simulator, first.endToEndId, second.endToEndId)).toHaveLength(2);
  expect((await breb('orders/query', { internalIds: [internalId] })).body).toMatchObject({
    results: [{ endToEndId: first.endToEndId }],
  });
});

test('an order rejected at intake does not affect the others, is not stored, and its end-to-end id can be reused', async () => {
  const [badKey, tooMuch, atLimit] = [
    order('two words'),
    order('@TESTOK', { amount: '11552000.01' }),
    order('@TESTOK', { amount: '11552000.00' }),
  ];
  expect(await send(breb, badKey, tooMuch, atLimit)).toEqual([
    { endToEndId: badKey.endToEndId, status: 'REJECTED', code: '4000', message: expect.any(String) },
    { endToEndId: tooMuch.endToEndId, status: 'REJECTED', code: '4013', message: expect.any(String) },
    { endToEndId: atLimit.endToEndId, status: 'PROCESSING' },
  ]);
  const notFound = { status: 'NOT_FOUND', code: null, executionId: null, amount: null, at: null };
  const rejectedIds = [badKey.endToEndId, tooMuch.endToEndId];
  expect(await queryOrders(breb, ...rejectedIds)).toEqual(
    rejectedIds.map((endToEndId) => ({ endToEndId, internalId: null, ...notFound })),
  );
  expect((await call(simulator, 'GET', `/control/orders/${badKey.endToEndId}`)).status).toBe(404);
  expect((await endOrder(simulator, { endToEndId: badKey.endToEndId, outcome: 'SETTLED' })).status).toBe(404);
  const corrected = order('@TESTOK', { endToEndId: badKey.endToEndId });
  expect(await send(breb, corrected)).toMatchObject([{ status: 'PROCESSING' }]);
  expect(await untilEnded(simulator, corrected.endToEndId)).toMatchObject({ status: 'SETTLED' });
  expect(await getExecutions(simulator, ...rejectedIds)).toHaveLength(1);
});

test('an orders call with an invalid body returns 400 and stores no order', async () => {
  const good = order('@TESTOK');
  const wrong = [
    { endToEndId: 'a'.repeat(10) },
    { endToEndId: 'A'.repeat(41) },
    { endToEndId: '' },
    { internalId: 'not-a-uuid' },
    { amount: '0.00' },
    { amount: 49_800 },
    { currency: 'USD' },
    { initiation: 'QR_STATIC' },
    { resolutionId: undefined },
    { creditor: {} },
    { payer: null },
  ];
  for (const changes of wrong) {
    const reply = await breb('orders', { orders: [good, order('@TESTOK', changes)] });
    expect([changes, reply.status]).toEqual([changes, 400]);
  }
  const tooMany = Array.from({ length: 501 }, () => order('@TESTOK'));
  for (const orders of [[], tooMany]) expect((await breb('orders', { orders })).status).toBe(400);
  expect(await queryOrders(breb, good.endToEndId)).toMatchObject([{ status: 'NOT_FOUND' }]);
  expect((await call(simulator, 'POST', '/breb/v1/orders', { body: { orders: [good] } })).status).toBe(401);
});

test('one call accepts or queries up to 500 orders by either id and answers in the order of the request', async () => {
  const sent = Array.from({ length: 499 }, () => order('@TESTOK'));
  await send(breb, ...sent);
  const known = sent.toReversed();
  const unknownIds = { endToEndId: newId(), internalId: randomUUID() };
  const endToEndIds = [unknownIds.endToEndId, ...known.map(({ endToEndId }) => endToEndId)];
  const internalIds = [...known.map(({ internalId }) => internalId), unknownIds.internalId];
  const found = known.map(({ endToEndId, internalId }) => ({ endToEndId, internalId, status: 'PROCESSING' }));
  expect((await breb('orders/query', { endToEndIds })).body).toMatchObject({
    results: [{ endToEndId: unknownIds.endToEndId, internalId: null, status: 'NOT_FOUND' }, ...found],
  });
  expect((await breb('orders/query', { internalIds })).body).toMatchObject({
    results: [...found, { endToEndId: null, internalId: unknownIds.internalId, status: 'NOT_FOUND' }],
  });
  const journaled = found.map(({ endToEndId, internalId, status }) => [endToEndId, internalId, status]);
  expect((await journal(simulator, 'breb.order-query')).at(-1)).toMatchObject({
    results: [...journaled, [null, unknownIds.internalId, 'NOT_FOUND']],
  });
});

test('an order query returns 400 unless it has 1 to 500 ids of one kind', async () => {
  const id = newId();
  const wrong = [
    {},
    { endToEndIds: [] },
    { endToEndIds: [id], internalIds: [randomUUID()] },
    { endToEndIds: Array(501).fill(id) },
  ];
  for (const body of wrong) expect((await breb('orders/query', body)).status).toBe(400);
});

test('GET /control/stats counts orders by outcome and the executed amount', async () => {
  const own = await startOrderSimulator();
  const client = await brebClient(own);
  const [settled, rejected, stuck] = [order('@TESTOK'), order('@TESTDECLINED'), order('@TESTTIMEOUT')];
  await send(client, settled, settled, rejected, stuck, order(''), order('@TESTOK', { amount: '0.07' }));
  await untilEnded(own, settled.endToEndId);
  await untilOver(own, rejected.endToEndId);
  expect((await call(own, 'GET', '/control/stats')).body).toMatchObject({
    orders: { received: 6, duplicates: 1, settled: 2, rejected: 2, processing: 1 },
    executions: { count: 2, cents: '4980007' },
    payments: { count: 0, cents: '0' },
    calls: { BRE_B: { order: 1, 'order-query': 0 } },
  });
  expect(await getOrder(own, stuck.endToEndId)).toMatchObject({ status: 'PROCESSING' });
});
