import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import {
  abandonTransaction,
  createOrder,
  endKey,
  endTransaction,
  getKey,
  getPayments,
  getTransaction,
  journal,
  leaveTransaction,
  msBetween,
  pay,
  payLate,
  shiftTime,
} from './payer.ts';
import { type BrebClient, brebClient, call, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;
let shiftedMs = 0;

beforeAll(async () => {
  simulator = await startSimulator();
  breb = await brebClient(simulator);
});
afterAll(cleanUp);

const pass = (ms: number) => shiftTime(simulator, (shiftedMs += ms));

async function registered(): Promise<string> {
  // Bre-B attempts of payment links carry no payer.
  const item = registration(freshKey(), { payer: null });
  await breb('keys/register', { keys: [item] });
  return item.key;
}

const close = (key: string) => breb('keys/close', { keys: [key] });

async function untilPaid(key: string): Promise<string[]> {
  await eventually(
    async () => (await getKey(simulator, key)).payments.length > 0,
    () => `${key} is paid`,
  );
  return (await getKey(simulator, key)).payments.map(({ amount }) => amount);
}

test('a payer with times 2 pays twice, with two executions', async () => {
  const key = await registered();
  const results = await pay(simulator, { key, times: 2 }, { key, amount: '1000.00' });
  expect(new Set(results.map(({ executionId }) => executionId)).size).toBe(3);
  const { payments } = await getKey(simulator, key);
  expect(payments.map(({ amount }) => amount)).toEqual(['49800.00', '49800.00', '1000.00']);
});

test('a late payer pays three seconds after the key is closed, and only once', async () => {
  const key = await registered();
  const { body } = await payLate(simulator, { key });
  expect(body).toEqual({ key, paysAfterClosing: '49800.00' });
  await close(key);
  await close(key);
  await pass(3000);
  expect(await untilPaid(key)).toEqual(['49800.00']);
  const { closedAt, payments } = await getKey(simulator, key);
  expect(msBetween(closedAt, payments[0]?.at)).toBeGreaterThanOrEqual(3000);
  const later = await registered();
  await payLate(simulator, { key: later, amount: '30000.00' });
  await close(later);
  await pass(3000);
  expect(await untilPaid(later)).toEqual(['30000.00']);
  expect((await getKey(simulator, key)).payments).toHaveLength(1);
});

test('a late payer pays after a rejection too, and pays a closed key immediately', async () => {
  const [rejected, closed] = [await registered(), await registered()];
  await payLate(simulator, { key: rejected });
  await endKey(simulator, { key: rejected, outcome: 'REJECTED' });
  await pass(3000);
  expect(await untilPaid(rejected)).toEqual(['49800.00']);
  await close(closed);
  const { body } = await payLate(simulator, { key: closed });
  expect(body).toMatchObject({ key: closed, executionId: expect.any(String) });
  expect((await getKey(simulator, closed)).payments).toHaveLength(1);
  const unknown = await payLate(simulator, { key: freshKey() });
  expect(unknown.body).toMatchObject({ code: 'AMOUNT_REQUIRED' });
});

test('a payer who leaves the bank page decides nothing, and can approve or abandon later', async () => {
  for (const reference of ['ref-back', 'ref-gone']) {
    await createOrder(simulator, reference);
    const left = await leaveTransaction(simulator, { reference });
    expect(left).toMatchObject({ status: 200, body: { state: 'PENDING', approvesAt: null } });
    expect((await getTransaction(simulator, reference)).openedAt).not.toBeNull();
  }
  await endTransaction(simulator, { reference: 'ref-back', state: 'OK' });
  expect(await getTransaction(simulator, 'ref-back')).toMatchObject({ state: 'OK' });
  expect((await abandonTransaction(simulator, 'ref-gone')).body).toEqual({
    reference: 'ref-gone',
    state: 'FAILED',
    reason: '15',
  });
});

test('an abandoned transaction whose bank page was never opened fails with reason 14', async () => {
  await createOrder(simulator, 'ref-unopened');
  expect((await abandonTransaction(simulator, 'ref-unopened')).body).toMatchObject({ reason: '14' });
  expect((await abandonTransaction(simulator, 'ref-unopened')).status).toBe(409);
  expect((await leaveTransaction(simulator, { reference: 'ref-unopened' })).status).toBe(409);
  expect((await abandonTransaction(simulator, 'ref-unknown')).status).toBe(404);
  expect((await leaveTransaction(simulator, { reference: 'ref-unknown' })).status).toBe(404);
});

test('a bank that approves later does so at its time, unless the transaction was decided before', async () => {
  await createOrder(simulator, 'ref-later');
  await createOrder(simulator, 'ref-rejected');
  await leaveTransaction(simulator, { reference: 'ref-later', approvesInMs: 60_000 });
  await leaveTransaction(simulator, { reference: 'ref-rejected', approvesInMs: 30_000 });
  await endTransaction(simulator, { reference: 'ref-rejected', state: 'NOT_AUTHORIZED' });
  await pass(60_000);
  await eventually(
    async () => (await getTransaction(simulator, 'ref-later')).state === 'OK',
    () => 'ref-later is approved',
  );
  const { createdAt, approvesAt } = await getTransaction(simulator, 'ref-later');
  const [payment] = await getPayments(simulator, 'ref-later');
  expect(msBetween(createdAt, approvesAt)).toBeGreaterThanOrEqual(60_000);
  expect(msBetween(approvesAt, payment?.at)).toBeGreaterThanOrEqual(0);
  expect(await getTransaction(simulator, 'ref-rejected')).toMatchObject({ state: 'NOT_AUTHORIZED' });
});

test('a restart keeps late payers and later approvals, and repeats none that happened', async () => {
  const first = await startSimulator();
  const client = await brebClient(first);
  const [paid, waiting] = [registration(freshKey()), registration(freshKey())];
  await client('keys/register', { keys: [paid, waiting] });
  for (const { key } of [paid, waiting]) await payLate(first, { key });
  await client('keys/close', { keys: [paid.key] });
  await createOrder(first, 'ref-kept');
  await leaveTransaction(first, { reference: 'ref-kept', approvesInMs: 60_000 });
  await shiftTime(first, 3000);
  await eventually(
    async () => (await getKey(first, paid.key)).payments.length === 1,
    () => 'the late payment arrived',
  );
  await first.end('SIGKILL');

  const second = await startSimulator({ dataDir: first.dataDir });
  const again = await brebClient(second);
  await again('keys/close', { keys: [waiting.key] });
  await shiftTime(second, 70_000);
  await eventually(
    async () => (await getKey(second, waiting.key)).payments.length === 1,
    () => 'the second late payment arrived',
  );
  await eventually(
    async () => (await getTransaction(second, 'ref-kept')).state === 'OK',
    () => 'the bank approved',
  );
  expect((await journal(second, 'breb.paid')).map(({ key }) => key)).toEqual([paid.key, waiting.key]);
});

test.each([
  ['/control/keys/pay', { payments: [{ key: '@CDLX', times: 0 }] }],
  ['/control/keys/pay', { payments: [{ key: '@CDLX', times: 11 }] }],
  ['/control/keys/pay-late', { key: '@CDLX', amount: '0.00' }],
  ['/control/transactions/leave', { reference: 'x', approvesInMs: -1 }],
  ['/control/transactions/abandon', { reference: 'x', state: 'OK' }],
])('POST %s rejects %j', async (path, body) => {
  expect((await call(simulator, 'POST', path, { body })).status).toBe(400);
});
