import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator } from './harness.ts';
import { endReceivers, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import {
  endOrder,
  getExecutions,
  getOrder,
  order,
  queryOrders,
  send,
  startOrderSimulator,
} from './order-driver.ts';
import { journal } from './payer.ts';
import { type BrebClient, brebClient } from './wire-client.ts';

let simulator: Simulator;
let receiver: Receiver;
let breb: BrebClient;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startOrderSimulator(['--notices', receiver.url]);
  breb = await brebClient(simulator);
});
afterAll(async () => {
  await cleanUp();
  endReceivers();
});

async function sent(): Promise<string> {
  const item = order('@TESTTIMEOUT');
  await send(breb, item);
  return item.endToEndId;
}

const journalEntries = async (kind: string, endToEndId: string) =>
  (await journal(simulator, kind)).filter((line) => line['endToEndId'] === endToEndId);

test.each([
  [{ outcome: 'SETTLED' }, 'SETTLED', null],
  [{ outcome: 'REJECTED' }, 'REJECTED', '4016'],
  [{ outcome: 'REJECTED', code: '4011' }, 'REJECTED', '4011'],
])(
  'POST /control/orders/end ends a PROCESSING order with %o once, then returns 409',
  async (end, status, code) => {
    const endToEndId = await sent();
    expect(await endOrder(simulator, { endToEndId, ...end })).toMatchObject({
      status: 200,
      body: { endToEndId, status, code },
    });
    for (const outcome of ['SETTLED', 'REJECTED']) {
      expect(await endOrder(simulator, { endToEndId, outcome })).toMatchObject({
        status: 409,
        body: { code: 'CANNOT_END' },
      });
    }
    expect(await queryOrders(breb, endToEndId)).toMatchObject([{ status, code }]);
    expect(await getExecutions(simulator, endToEndId)).toHaveLength(status === 'SETTLED' ? 1 : 0);
    expect(await journalEntries('breb.order-ended', endToEndId)).toMatchObject([
      { outcome: status, code, contradicts: false },
    ]);
    expect(await untilAccepted(receiver, endToEndId)).toHaveLength(1);
  },
);

test('settling a rejected order with anyway moves the money, changes the status and sends a notice', async () => {
  const endToEndId = await sent();
  await endOrder(simulator, { endToEndId, outcome: 'REJECTED', code: '4017' });
  // Two posts in flight may arrive in another order.
  await untilAccepted(receiver, endToEndId);
  await endOrder(simulator, { endToEndId, outcome: 'SETTLED', anyway: true });
  const [execution] = await getExecutions(simulator, endToEndId);
  const executionId = execution?.['executionId'];
  expect(await queryOrders(breb, endToEndId)).toMatchObject([{ status: 'SETTLED', code: null, executionId }]);
  expect(await journalEntries('breb.executed', endToEndId)).toMatchObject([{ executionId, anyway: true }]);
  expect(await journalEntries('breb.order-ended', endToEndId)).toMatchObject([
    { outcome: 'REJECTED', code: '4017', contradicts: false },
    { outcome: 'SETTLED', code: null, contradicts: true },
  ]);
  expect(await untilAccepted(receiver, endToEndId, 2)).toMatchObject([
    { type: 'ORDER_REJECTED', executionId: null, code: '4017' },
    { type: 'ORDER_SETTLED', executionId, code: null },
  ]);
});

test('rejecting a settled order with anyway sends a notice and changes nothing', async () => {
  const endToEndId = await sent();
  await endOrder(simulator, { endToEndId, outcome: 'SETTLED' });
  const before = await getOrder(simulator, endToEndId);
  // Two posts in flight may arrive in another order.
  await untilAccepted(receiver, endToEndId);
  await endOrder(simulator, { endToEndId, outcome: 'REJECTED', anyway: true });
  expect(await getOrder(simulator, endToEndId)).toEqual(before);
  expect(await getExecutions(simulator, endToEndId)).toHaveLength(1);
  expect(await untilAccepted(receiver, endToEndId, 2)).toMatchObject([
    { type: 'ORDER_SETTLED', executionId: before.executionId },
    { type: 'ORDER_REJECTED', executionId: null, code: '4016', amount: '49800.00' },
  ]);
});

test('settling an order twice executes it once and sends two notices with the same execution id', async () => {
  const endToEndId = await sent();
  await endOrder(simulator, { endToEndId, outcome: 'SETTLED' });
  await endOrder(simulator, { endToEndId, outcome: 'SETTLED', anyway: true });
  expect(await getExecutions(simulator, endToEndId)).toHaveLength(1);
  const [first, second] = await untilAccepted(receiver, endToEndId, 2);
  expect(second?.['executionId']).toBe(first?.['executionId']);
  expect(second?.noticeId).not.toBe(first?.noticeId);
});

test('settling a PROCESSING order with anyway is journaled without contradiction', async () => {
  const endToEndId = await sent();
  await endOrder(simulator, { endToEndId, outcome: 'SETTLED', anyway: true });
  expect(await journalEntries('breb.executed', endToEndId)).toMatchObject([{ anyway: false }]);
  expect(await journalEntries('breb.order-ended', endToEndId)).toMatchObject([{ contradicts: false }]);
});

test('POST /control/orders/end returns 400 for an invalid body and 404 for an unknown order', async () => {
  const endToEndId = await sent();
  const wrong = [
    { endToEndId, outcome: 'CANCELED' },
    { endToEndId, outcome: 'SETTLED', code: '4016' },
    { endToEndId, outcome: 'SETTLED', anyways: true },
  ];
  for (const body of wrong) expect((await endOrder(simulator, body)).status).toBe(400);
  expect((await endOrder(simulator, { endToEndId: 'NOBODY', outcome: 'SETTLED', anyway: true })).status).toBe(
    404,
  );
  expect(await getOrder(simulator, endToEndId)).toMatchObject({ status: 'PROCESSING' });
});
