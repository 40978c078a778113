import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator, startSimulator } from './harness.ts';
import { endReceivers, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import { endKey, getKey, journal, pay, stats } from './payer.ts';
import { type BrebClient, brebClient, call, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let receiver: Receiver;
let breb: BrebClient;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ args: ['--notices', receiver.url] });
  breb = await brebClient(simulator);
});
afterAll(async () => {
  await cleanUp();
  endReceivers();
});

async function registered(changes: object = {}) {
  const item = registration(freshKey(), changes);
  await breb('keys/register', { keys: [item] });
  return item;
}

const queryKey = async (key: string) =>
  ((await breb('keys/query', { keys: [key] })).body as { results: object[] }).results[0];

test('a payment is journaled, returned by a key query and sent as a signed notice', async () => {
  const item = await registered();
  const [paid] = await pay(simulator, { key: item.key });
  expect(paid).toEqual({
    key: item.key,
    executionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    endToEndId: expect.stringMatching(/^[A-Z0-9]{35}$/),
  });
  const { executionId, endToEndId } = paid ?? {};
  const payment = { executionId, endToEndId, amount: '49800.00', at: expect.stringMatching(/Z$/) };
  expect(await queryKey(item.key)).toEqual({
    key: item.key,
    status: 'REGISTERED',
    code: null,
    expiresAt: item.expiresAt,
    payments: [payment],
  });
  const line = {
    kind: 'breb.paid',
    key: item.key,
    executionId,
    endToEndId,
    amount: '49800.00',
    anyway: false,
  };
  expect((await journal(simulator, 'breb.paid')).at(-1)).toMatchObject(line);

  const [notice] = await untilAccepted(receiver, item.key);
  expect(notice).toEqual({
    noticeId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: 'SETTLED',
    key: item.key,
    internalId: item.internalId,
    ...payment,
    currency: 'COP',
    code: null,
  });
  expect((await journal(simulator, 'notice.queued')).at(-1)).toMatchObject({
    rail: 'BRE_B',
    notice: notice ?? {},
    fault: null,
  });
  expect(receiver.posts.every(({ signed }) => signed)).toBe(true);
});

test('a key accepts several payments of any amount, each with its own execution id', async () => {
  const { key } = await registered();
  const before = await stats(simulator);
  const paid = await pay(simulator, { key, amount: '0.01' }, { key, amount: '999999.99' }, { key });
  expect(new Set(paid.map(({ executionId }) => executionId)).size).toBe(3);
  expect((await getKey(simulator, key)).payments.map(({ amount }) => amount)).toEqual([
    '0.01',
    '999999.99',
    '49800.00',
  ]);
  const after = await stats(simulator);
  expect(after.payments.count - before.payments.count).toBe(3);
  expect(BigInt(after.payments.cents) - BigInt(before.payments.cents)).toBe(1n + 99_999_999n + 4_980_000n);
  const { body } = await call(simulator, 'GET', '/control/payments');
  const mine = (body as { reference: string }[]).filter(({ reference }) => reference === key);
  expect(mine).toEqual(
    paid.map(({ executionId }, index) => ({
      rail: 'BRE_B',
      reference: key,
      executionId,
      amount: ['0.01', '999999.99', '49800.00'][index],
      at: expect.any(String),
    })),
  );
  const notices = await untilAccepted(receiver, key, 3);
  expect(new Set(notices.map(({ executionId }) => executionId))).toEqual(
    new Set(paid.map(({ executionId }) => executionId)),
  );
});

test('an expired key can be paid until it is closed', async () => {
  const { key } = await registered({ expiresAt: '2026-01-01T00:00:00.000Z' });
  expect(await pay(simulator, { key })).toMatchObject([{ key, executionId: expect.any(String) }]);
});

test('paying an unknown, closed, rejected or canceled key returns 0004, and the other keys of the call are paid', async () => {
  const [closed, rejected, canceled, open] = [
    await registered(),
    await registered(),
    await registered(),
    await registered(),
  ];
  const unknown = freshKey();
  await breb('keys/close', { keys: [closed.key] });
  await endKey(simulator, { key: rejected.key, outcome: 'REJECTED' });
  await endKey(simulator, { key: canceled.key, outcome: 'CANCELED' });
  const unpayable = [unknown, closed.key, rejected.key, canceled.key];
  const results = await pay(simulator, ...[...unpayable, open.key].map((key) => ({ key })));
  expect(results.slice(0, 4)).toEqual(unpayable.map((key) => ({ key, code: '0004' })));
  expect(results[4]).toMatchObject({ key: open.key, executionId: expect.any(String) });
  expect((await getKey(simulator, closed.key)).payments).toEqual([]);
});

test('a payment with anyway succeeds on a closed key and on an unregistered key', async () => {
  const [closed, unknown] = [await registered(), registration(freshKey())];
  await breb('keys/close', { keys: [closed.key] });
  const results = await pay(
    simulator,
    { key: closed.key, anyway: true },
    { key: unknown.key, anyway: true },
    { key: unknown.key, anyway: true, amount: '10.00' },
  );
  expect(results).toMatchObject([
    { executionId: expect.any(String) },
    { key: unknown.key, code: 'AMOUNT_REQUIRED' },
    { executionId: expect.any(String) },
  ]);
  expect(await queryKey(closed.key)).toMatchObject({ status: 'CLOSED', payments: [{ amount: '49800.00' }] });
  expect(await queryKey(unknown.key)).toMatchObject({ status: 'NOT_FOUND', payments: [{ amount: '10.00' }] });
  expect((await journal(simulator, 'breb.paid')).at(-1)).toMatchObject({ key: unknown.key, anyway: true });
  await untilAccepted(receiver, closed.key);
  expect((await untilAccepted(receiver, unknown.key))[0]).toMatchObject({ internalId: expect.any(String) });

  // A later registration keeps the payment.
  await breb('keys/register', { keys: [unknown] });
  expect(await queryKey(unknown.key)).toMatchObject({
    status: 'REGISTERED',
    payments: [{ amount: '10.00' }],
  });
});

test.each([
  [{ outcome: 'REJECTED' }, 'REJECTED', '4016'],
  [{ outcome: 'REJECTED', code: '4021' }, 'REJECTED', '4021'],
  [{ outcome: 'CANCELED' }, 'CANCELED', null],
])(
  'ending a key with %o sends a notice, and the key cannot be registered or resolved again',
  async (end, status, code) => {
    const item = await registered();
    expect((await endKey(simulator, { key: item.key, ...end })).body).toMatchObject({ status, code });
    const expected = { key: item.key, status, code, expiresAt: item.expiresAt, payments: [] };
    expect(await queryKey(item.key)).toEqual(expected);
    expect((await breb('keys/register', { keys: [item] })).body).toMatchObject({
      results: [{ status: 'REJECTED', code: '0004' }],
    });
    expect((await breb('keys/close', { keys: [item.key] })).body).toEqual({ results: [expected] });
    const resolved = await breb('directory/resolve', { key: item.key });
    expect(resolved).toMatchObject({ status: 422, body: { code: '0004' } });
    expect((await untilAccepted(receiver, item.key))[0]).toEqual({
      noticeId: expect.any(String),
      type: status,
      key: item.key,
      internalId: item.internalId,
      executionId: null,
      endToEndId: null,
      amount: null,
      currency: 'COP',
      code,
      at: expect.any(String),
    });
  },
);

test('POST /control/keys/end returns 409 CANNOT_END for a closed, ended, paid or unknown key', async () => {
  const [closed, ended, paid] = [await registered(), await registered(), await registered()];
  await breb('keys/close', { keys: [closed.key] });
  await endKey(simulator, { key: ended.key, outcome: 'CANCELED' });
  await pay(simulator, { key: paid.key });
  for (const key of [closed.key, ended.key, paid.key, freshKey()]) {
    const reply = await endKey(simulator, { key, outcome: 'REJECTED' });
    expect(reply).toMatchObject({ status: 409, body: { code: 'CANNOT_END' } });
  }
});

test('ending a paid or closed key with anyway sends a contradicting notice and keeps the status', async () => {
  const [paid, closed] = [await registered(), await registered()];
  await pay(simulator, { key: paid.key });
  // Two posts in flight may arrive in another order.
  await untilAccepted(receiver, paid.key);
  await breb('keys/close', { keys: [closed.key] });
  const reply = await endKey(simulator, { key: paid.key, outcome: 'REJECTED', anyway: true });
  expect(reply).toMatchObject({ status: 200, body: { status: 'REGISTERED', payments: [{}] } });
  expect((await journal(simulator, 'breb.ended')).at(-1)).toMatchObject({
    key: paid.key,
    outcome: 'REJECTED',
    code: '4016',
    contradicts: true,
  });
  await endKey(simulator, { key: closed.key, outcome: 'CANCELED', anyway: true });
  expect(await queryKey(closed.key)).toMatchObject({ status: 'CLOSED', code: null });
  const notices = await untilAccepted(receiver, paid.key, 2);
  expect(notices.map(({ type }) => type)).toEqual(['SETTLED', 'REJECTED']);
});

test('POST /control/keys/pay returns 400 for an invalid body and pays nothing', async () => {
  const { key } = await registered();
  const wrong = [
    {},
    { payments: [] },
    { payments: [{ key, amount: '10' }] },
    { payments: [{ key, amount: '0.00' }] },
    { payments: [{ key, anyways: true }] },
    { payments: Array.from({ length: 1001 }, () => ({ key })) },
  ];
  for (const body of wrong) {
    expect((await call(simulator, 'POST', '/control/keys/pay', { body })).status).toBe(400);
  }
  expect((await getKey(simulator, key)).payments).toEqual([]);
});
