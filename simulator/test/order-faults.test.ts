import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleanUp, eventually, type Simulator } from './harness.ts';
import { getExecutions, order, queryOrders, send, startOrderSimulator, untilEnded } from './order-driver.ts';
import { addFault } from './payer.ts';
import { type BrebClient, brebClient, call, callAndLeave } from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;

beforeAll(async () => {
  simulator = await startOrderSimulator();
  breb = await brebClient(simulator);
});
afterEach(() => call(simulator, 'DELETE', '/control/faults'));
afterAll(cleanUp);

const addOrderFault = (operation: string, fault: string, more: object = {}) =>
  addFault(simulator, { rail: 'BRE_B', operation, fault, times: 1, ...more });

test.each([
  ['down', '503'],
  ['reset', 'fetch failed'],
] as const)('%s on order does not store the order, and the retry is accepted', async (fault, message) => {
  const sent = order('@TESTOK');
  await addOrderFault('order', fault);
  await expect(send(breb, sent)).rejects.toThrow(message);
  expect(await queryOrders(breb, sent.endToEndId)).toMatchObject([{ status: 'NOT_FOUND' }]);
  expect(await send(breb, sent)).toMatchObject([{ status: 'PROCESSING' }]);
  await untilEnded(simulator, sent.endToEndId);
  expect(await getExecutions(simulator, sent.endToEndId)).toHaveLength(1);
});

test('hang on order does not store the order, and removing the fault closes the call', async () => {
  const sent = order('@TESTOK');
  await addOrderFault('order', 'hang');
  const outcome = send(breb, sent).then(
    () => 'answered',
    () => 'aborted',
  );
  await eventually(
    async () =>
      JSON.stringify((await call(simulator, 'GET', '/control/faults')).body).includes('"applied":1'),
    () => 'the call hangs',
  );
  expect(await queryOrders(breb, sent.endToEndId)).toMatchObject([{ status: 'NOT_FOUND' }]);
  await call(simulator, 'DELETE', '/control/faults');
  expect(await outcome).toBe('aborted');
  expect(await queryOrders(breb, sent.endToEndId)).toMatchObject([{ status: 'NOT_FOUND' }]);
});

test('lost-answer on order stores the order, the retry is a DUPLICATE, and it is executed once', async () => {
  const sent = order('@TESTOK');
  await addOrderFault('order', 'lost-answer');
  await expect(send(breb, sent)).rejects.toThrow('fetch failed');
  expect(await queryOrders(breb, sent.endToEndId)).toMatchObject([{ status: 'PROCESSING' }]);
  expect(await send(breb, sent)).toMatchObject([{ status: 'DUPLICATE' }]);
  await untilEnded(simulator, sent.endToEndId);
  expect(await getExecutions(simulator, sent.endToEndId)).toHaveLength(1);
});

test('slow on order stores the order after the delay, even when the client has disconnected', async () => {
  const sent = order('@TESTOK');
  await addOrderFault('order', 'slow', { ms: 400 });
  await callAndLeave(simulator, 'orders', { orders: [sent] });
  await eventually(
    async () => JSON.stringify(await queryOrders(breb, sent.endToEndId)).includes('PROCESSING'),
    () => `${sent.endToEndId} is stored`,
  );
  const { body } = await call(simulator, 'GET', '/control/faults');
  expect(body).toMatchObject({ faults: [{ fault: 'slow', applied: 1 }] });
});

test('faults on order-query apply only to order queries', async () => {
  const sent = order('@TESTOK');
  for (const fault of ['down', 'reset', 'lost-answer']) await addOrderFault('order-query', fault);
  const query = () => breb('orders/query', { endToEndIds: [sent.endToEndId] });
  expect(await send(breb, sent)).toMatchObject([{ status: 'PROCESSING' }]);
  expect((await breb('keys/query', { keys: ['@ANYKEY'] })).status).toBe(200);
  expect((await query()).status).toBe(503);
  await expect(query()).rejects.toThrow('fetch failed');
  await expect(query()).rejects.toThrow('fetch failed');
  expect((await query()).body).toMatchObject({ results: [{ status: 'PROCESSING' }] });
  const { body } = await call(simulator, 'GET', '/control/stats');
  expect(body).toMatchObject({ faulted: { BRE_B: { 'order-query': 3, query: 0 } } });
});
