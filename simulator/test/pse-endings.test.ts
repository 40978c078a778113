import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import { endReceivers, getAccepted, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import {
  createOrder,
  endTransaction,
  getTransaction,
  journal,
  msBetween,
  shiftTime,
  stats,
  untilDrained,
} from './payer.ts';
import { call, pseCall } from './wire-client.ts';

let simulator: Simulator;
let receiver: Receiver;
let shiftedMs = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ args: ['--notices', receiver.url] });
});
afterAll(async () => {
  await cleanUp();
  endReceivers();
});

const passMinutes = (minutes: number) => shiftTime(simulator, (shiftedMs += minutes * 60_000));

async function untilState(reference: string, state: string) {
  await eventually(
    async () => (await getTransaction(simulator, reference)).state === state,
    () => `${reference} is ${state}`,
  );
  return getTransaction(simulator, reference);
}

test.each([
  ['OK', undefined, null],
  ['NOT_AUTHORIZED', undefined, '11'],
  ['FAILED', undefined, '10'],
  ['NOT_AUTHORIZED', '3', '3'],
])(
  'deciding a PENDING transaction as %s with reason %s stores reason %s in the answer, query, journal and notice',
  async (state, requestedReason, reason) => {
    const reference = `ref-${state}-${requestedReason ?? 'none'}`;
    const { body } = await createOrder(simulator, reference);
    const { transactionId } = body as { transactionId: string };
    const decided = await endTransaction(simulator, {
      reference,
      state,
      ...(requestedReason === undefined ? {} : { reason: requestedReason }),
    });
    expect(decided).toEqual({ status: 200, body: { reference, state, reason } });
    const queried = await pseCall(simulator, 'transactions/query', { references: [reference] });
    expect(queried.body).toMatchObject({ results: [{ reference, state, reason, transactionId }] });
    expect((await journal(simulator, 'pse.ended')).at(-1)).toMatchObject({
      reference,
      transactionId,
      state,
      reason,
      contradicts: false,
    });
    expect(await untilAccepted(receiver, reference)).toMatchObject([{ state, reason, transactionId }]);
  },
);

test('POST /control/transactions/end returns 409 for a decided transaction and 404 for an unknown one', async () => {
  await createOrder(simulator, 'ref-once');
  await endTransaction(simulator, { reference: 'ref-once', state: 'OK' });
  expect((await endTransaction(simulator, { reference: 'ref-once', state: 'FAILED' })).status).toBe(409);
  expect((await endTransaction(simulator, { reference: 'ref-never', state: 'OK' })).status).toBe(404);
});

test('approving a failed transaction with anyway changes its state and counts one payment', async () => {
  const { body } = await createOrder(simulator, 'ref-after-all');
  await endTransaction(simulator, { reference: 'ref-after-all', state: 'FAILED' });
  const before = await stats(simulator);
  for (let times = 0; times < 2; times += 1) {
    await endTransaction(simulator, { reference: 'ref-after-all', state: 'OK', anyway: true });
  }
  expect(await getTransaction(simulator, 'ref-after-all')).toMatchObject({ state: 'OK', reason: null });
  expect((await stats(simulator)).payments.count - before.payments.count).toBe(1);
  const payments = (await call(simulator, 'GET', '/control/payments')).body as { reference: string }[];
  expect(payments.filter(({ reference }) => reference === 'ref-after-all')).toEqual([
    {
      rail: 'PSE',
      reference: 'ref-after-all',
      executionId: (body as { transactionId: string }).transactionId,
      amount: '49800.00',
      at: expect.any(String),
    },
  ]);
});

test('rejecting an approved transaction with anyway sends a notice and keeps the state', async () => {
  await createOrder(simulator, 'ref-rejected-later');
  await endTransaction(simulator, { reference: 'ref-rejected-later', state: 'OK' });
  // Two posts in flight may arrive in another order.
  await untilAccepted(receiver, 'ref-rejected-later');
  const rejection = { reference: 'ref-rejected-later', state: 'NOT_AUTHORIZED', anyway: true };
  expect((await endTransaction(simulator, rejection)).body).toMatchObject({ state: 'OK', reason: null });
  expect((await journal(simulator, 'pse.ended')).at(-1)).toMatchObject({
    state: 'NOT_AUTHORIZED',
    reason: '11',
    contradicts: true,
  });
  const notices = await untilAccepted(receiver, 'ref-rejected-later', 2);
  expect(notices.map(({ state }) => state)).toEqual(['OK', 'NOT_AUTHORIZED']);
});

test('a transaction fails with reason 14 when the bank page is not opened within ten minutes', async () => {
  await createOrder(simulator, 'ref-unopened');
  await passMinutes(9.5);
  await createOrder(simulator, 'ref-young');
  await passMinutes(0.5);
  expect(await untilState('ref-unopened', 'FAILED')).toMatchObject({ reason: '14' });
  expect(await untilAccepted(receiver, 'ref-unopened')).toMatchObject([{ state: 'FAILED', reason: '14' }]);
  expect(await getTransaction(simulator, 'ref-young')).toMatchObject({ state: 'PENDING' });
});

test('a transaction fails with reason 15 twenty-five minutes after the bank page is first opened', async () => {
  await createOrder(simulator, 'ref-opened');
  const { bankUrl } = await getTransaction(simulator, 'ref-opened');
  await passMinutes(5);
  expect((await fetch(bankUrl)).status).toBe(200);
  await passMinutes(20);
  // Only the first visit is recorded.
  expect((await fetch(bankUrl)).status).toBe(200);
  const opened = (await journal(simulator, 'pse.opened')).filter(
    (line) => line['reference'] === 'ref-opened',
  );
  expect(opened).toHaveLength(1);
  expect(await getTransaction(simulator, 'ref-opened')).toMatchObject({ state: 'PENDING' });
  await passMinutes(5);
  const { openedAt, reason } = await untilState('ref-opened', 'FAILED');
  expect(reason).toBe('15');
  const notices = await untilAccepted(receiver, 'ref-opened');
  expect(notices).toMatchObject([{ state: 'FAILED', reason: '15' }]);
  expect(msBetween(openedAt, String(notices[0]?.['at']))).toBeGreaterThanOrEqual(25 * 60_000);
});

test('a decided transaction is not failed by a timeout', async () => {
  await createOrder(simulator, 'ref-in-time');
  await createOrder(simulator, 'ref-left');
  await endTransaction(simulator, { reference: 'ref-in-time', state: 'OK' });
  await passMinutes(60);
  await untilState('ref-left', 'FAILED');
  expect(await getTransaction(simulator, 'ref-in-time')).toMatchObject({ state: 'OK' });
  await untilDrained(simulator);
  expect(getAccepted(receiver, 'ref-in-time')).toHaveLength(1);
});
