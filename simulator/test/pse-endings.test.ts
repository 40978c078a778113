import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import { acceptedOf, endReceivers, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import { createOrder, endTransaction, journal, shiftTime, stats, transactionOf } from './payer.ts';
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
    async () => (await transactionOf(simulator, reference)).state === state,
    () => `${reference} is ${state}`,
  );
  return transactionOf(simulator, reference);
}

test.each([
  ['OK', undefined, null],
  ['NOT_AUTHORIZED', undefined, '11'],
  ['FAILED', undefined, '10'],
  ['NOT_AUTHORIZED', '3', '3'],
])(
  'a pending transaction decided as %s with reason %s says reason %s, everywhere the same',
  async (state, given, reason) => {
    const reference = `ref-${state}-${given ?? 'none'}`;
    const { body } = await createOrder(simulator, reference);
    const { transactionId } = body as { transactionId: string };
    const decided = await endTransaction(simulator, {
      reference,
      state,
      ...(given === undefined ? {} : { reason: given }),
    });
    expect(decided).toEqual({ status: 200, body: { reference, state, reason } });
    const asked = await pseCall(simulator, 'transactions/query', { references: [reference] });
    expect(asked.body).toMatchObject({ results: [{ reference, state, reason, transactionId }] });
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

test('a decided transaction is not decided again, and an unknown one not at all', async () => {
  await createOrder(simulator, 'ref-once');
  await endTransaction(simulator, { reference: 'ref-once', state: 'OK' });
  expect((await endTransaction(simulator, { reference: 'ref-once', state: 'FAILED' })).status).toBe(409);
  expect((await endTransaction(simulator, { reference: 'ref-never', state: 'OK' })).status).toBe(404);
});

test('money that comes after a refusal is money, and counts once', async () => {
  const { body } = await createOrder(simulator, 'ref-after-all');
  await endTransaction(simulator, { reference: 'ref-after-all', state: 'FAILED' });
  const before = await stats(simulator);
  for (let times = 0; times < 2; times += 1) {
    await endTransaction(simulator, { reference: 'ref-after-all', state: 'OK', anyway: true });
  }
  expect(await transactionOf(simulator, 'ref-after-all')).toMatchObject({ state: 'OK', reason: null });
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

test('a refusal that comes after the money is only said', async () => {
  await createOrder(simulator, 'ref-only-said');
  await endTransaction(simulator, { reference: 'ref-only-said', state: 'OK' });
  const said = { reference: 'ref-only-said', state: 'NOT_AUTHORIZED', anyway: true };
  expect((await endTransaction(simulator, said)).body).toMatchObject({ state: 'OK', reason: null });
  expect((await journal(simulator, 'pse.ended')).at(-1)).toMatchObject({
    state: 'NOT_AUTHORIZED',
    reason: '11',
    contradicts: true,
  });
  const told = await untilAccepted(receiver, 'ref-only-said', 2);
  expect(told.map(({ state }) => state)).toEqual(['OK', 'NOT_AUTHORIZED']);
});

test('a bank page that nobody opens fails the transaction with 14 after ten minutes', async () => {
  await createOrder(simulator, 'ref-unopened');
  await passMinutes(9.5);
  await createOrder(simulator, 'ref-young');
  await passMinutes(0.5);
  expect(await untilState('ref-unopened', 'FAILED')).toMatchObject({ reason: '14' });
  expect(await untilAccepted(receiver, 'ref-unopened')).toMatchObject([{ state: 'FAILED', reason: '14' }]);
  expect(await transactionOf(simulator, 'ref-young')).toMatchObject({ state: 'PENDING' });
});

test('one that was opened and left fails with 15 twenty-five minutes after it was first opened', async () => {
  await createOrder(simulator, 'ref-opened');
  const { bankUrl } = await transactionOf(simulator, 'ref-opened');
  await passMinutes(9);
  expect((await fetch(bankUrl)).status).toBe(200);
  await passMinutes(24);
  // Opened again, it is not opened for the first time.
  expect((await fetch(bankUrl)).status).toBe(200);
  const opened = (await journal(simulator, 'pse.opened')).filter(
    (line) => line['reference'] === 'ref-opened',
  );
  expect(opened).toHaveLength(1);
  expect(await transactionOf(simulator, 'ref-opened')).toMatchObject({ state: 'PENDING' });
  await passMinutes(1);
  expect(await untilState('ref-opened', 'FAILED')).toMatchObject({ reason: '15' });
  expect(await untilAccepted(receiver, 'ref-opened')).toMatchObject([{ state: 'FAILED', reason: '15' }]);
});

test('a transaction that was decided in time fails no more', async () => {
  await createOrder(simulator, 'ref-in-time');
  await createOrder(simulator, 'ref-left');
  await endTransaction(simulator, { reference: 'ref-in-time', state: 'OK' });
  await passMinutes(60);
  await untilState('ref-left', 'FAILED');
  expect(await transactionOf(simulator, 'ref-in-time')).toMatchObject({ state: 'OK' });
  expect(acceptedOf(receiver, 'ref-in-time')).toHaveLength(1);
});
