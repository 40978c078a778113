import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopwatch, within } from '../../scripts/testing/expect-within.ts';
import { MAGIC_DOCUMENTS } from '../src/magic-documents.ts';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import { endReceivers, getAccepted, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import {
  getKey,
  getPayments,
  getTransaction,
  msBetween,
  orderWithDocument,
  pay,
  shiftTime,
  untilDrained,
  withDocument,
} from './payer.ts';
import { type BrebClient, brebClient, freshKey, pseCall } from './wire-client.ts';

let simulator: Simulator;
let receiver: Receiver;
let breb: BrebClient;
let shiftedMs = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ args: ['--notices', receiver.url] });
  breb = await brebClient(simulator);
});
afterAll(async () => {
  await cleanUp();
  endReceivers();
});

/** Moves the clock forward, and gets a new token because the old one may have expired. */
async function pass(ms: number): Promise<void> {
  await shiftTime(simulator, (shiftedMs += ms));
  breb = await brebClient(simulator);
}

const register = (item: object) => breb('keys/register', { keys: [item] });
const create = (order: object) => pseCall(simulator, 'transactions', order);

/** One hour from now on the simulator's clock. */
const inAnHour = () => new Date(Date.now() + shiftedMs + 3_600_000).toISOString();

async function keyWith(documentNumber: string, changes: object = {}): Promise<string> {
  const item = withDocument(freshKey(), documentNumber, { expiresAt: inAnHour(), ...changes });
  await register(item);
  return item.key;
}

async function untilPaid(key: string, count: number) {
  await eventually(
    async () => (await getKey(simulator, key)).payments.length >= count,
    () => `${key} has ${count} payment(s)`,
  );
  return (await getKey(simulator, key)).payments.map(({ amount }) => amount);
}

async function untilState(reference: string, state: string) {
  await eventually(
    async () => (await getTransaction(simulator, reference)).state === state,
    () => `${reference} is ${state}`,
  );
  return getTransaction(simulator, reference);
}

test('a magic document pays after three seconds, and another document never does', async () => {
  const [magic, plain] = [await keyWith('1000000001'), await keyWith('1000000002')];
  await pass(3000);
  expect(await untilPaid(magic, 1)).toEqual(['49800.00']);
  const { registeredAt, payments } = await getKey(simulator, magic);
  expect(msBetween(registeredAt, payments[0]?.at)).toBeGreaterThanOrEqual(3000);
  await pass(60_000);
  // Actions run in order: once this later key is paid, the plain key would have been paid too.
  const later = await keyWith('1000000001');
  await pass(3000);
  await untilPaid(later, 1);
  expect((await getKey(simulator, plain)).payments).toEqual([]);
  expect((await getKey(simulator, magic)).payments).toHaveLength(1);
});

test.each([
  ['1000000001', '49800.00', ['49800.00']],
  ['1000000009', '49800.00', ['49800.00', '49800.00']],
  ['1000000011', '49800.01', ['24900.00']],
  ['1000000011', '0.01', ['0.01']],
  ['1000000013', '49800.01', ['99600.02']],
])('Bre-B: document %s pays a key registered for %s with payments %j', async (document, amount, expected) => {
  const key = await keyWith(document, { amount });
  await pass(3000);
  // On a slow machine the second payment, a second later, may exist already.
  expect((await untilPaid(key, 1)).slice(0, 1)).toEqual(expected.slice(0, 1));
  await pass(1000);
  expect(await untilPaid(key, expected.length)).toEqual(expected);
  const { registeredAt, payments } = await getKey(simulator, key);
  for (const [index, { at }] of payments.entries())
    expect(msBetween(registeredAt, at)).toBeGreaterThanOrEqual(3000 + 1000 * index);
  expect(await untilAccepted(receiver, key, expected.length)).toHaveLength(expected.length);
});

test.each([
  ['1000000003', 'REJECTED', '4016'],
  ['1000000005', 'CANCELED', null],
])('Bre-B: document %s ends the key with status %s', async (document, status, code) => {
  const key = await keyWith(document);
  await pass(3000);
  expect(await untilAccepted(receiver, key)).toMatchObject([{ type: status, code }]);
  expect(await getKey(simulator, key)).toMatchObject({ status, code, payments: [] });
});

test('Bre-B: document 1000000007 pays three seconds after the key is closed, not before', async () => {
  const key = await keyWith('1000000007');
  await pass(4_000_000);
  await breb('keys/close', { keys: [key] });
  await pass(3000);
  expect(await untilPaid(key, 1)).toEqual(['49800.00']);
  const { status, closedAt, payments } = await getKey(simulator, key);
  expect(status).toBe('CLOSED');
  expect(msBetween(closedAt, payments[0]?.at)).toBeGreaterThanOrEqual(3000);
  await untilAccepted(receiver, key);
});

test('Bre-B: a registration with document 1000000021 is rejected with 4016', async () => {
  const item = withDocument(freshKey(), '1000000021');
  expect((await register(item)).body).toMatchObject({ results: [{ status: 'REJECTED', code: '4016' }] });
});

test('a magic key that is closed or paid manually before it is due is not paid automatically', async () => {
  // Due after a minute: closed and paid before, also on a slow machine.
  const closed = await keyWith('1000000025');
  const byHand = await keyWith('1000000025');
  const later = await keyWith('1000000025');
  await breb('keys/close', { keys: [closed] });
  await pay(simulator, { key: byHand, amount: '1.00' });
  await pass(60_000);
  await untilPaid(later, 1);
  expect((await getKey(simulator, byHand)).payments).toMatchObject([{ amount: '1.00' }]);
  expect((await getKey(simulator, closed)).payments).toEqual([]);
});

test.each([
  ['1000000001', 'OK', null, 1],
  ['1000000003', 'NOT_AUTHORIZED', '11', 1],
  ['1000000005', 'NOT_AUTHORIZED', '1', 1],
  ['1000000009', 'OK', null, 2],
  ['1000000011', 'OK', null, 1],
  ['1000000013', 'OK', null, 1],
])(
  'PSE: document %s ends the transaction with state %s, reason %s and %i notice(s)',
  async (document, state, reason, times) => {
    const reference = `ref-${document}`;
    await create(orderWithDocument(reference, document));
    await pass(3000);
    expect(await untilState(reference, state)).toMatchObject({ state, reason, amount: '49800.00' });
    const notices = await untilAccepted(receiver, reference, times);
    expect(notices).toMatchObject(notices.map(() => ({ state, reason })));
    expect(new Set(notices.map(({ noticeId }) => noticeId)).size).toBe(1);
    await untilDrained(simulator);
    expect(getAccepted(receiver, reference)).toHaveLength(times);
  },
);

test('PSE: document 1000000007 approves one minute after the expiry, even if the bank page was never opened', async () => {
  const expiresAt = inAnHour();
  await create(orderWithDocument('ref-late', '1000000007', { expiresAt }));
  const other = orderWithDocument('ref-other', '1000000002', { expiresAt: inAnHour() });
  await create(other);
  await pass(3_600_000);
  await untilState('ref-other', 'FAILED');
  await pass(60_000);
  await untilState('ref-late', 'OK');
  const [payment] = await getPayments(simulator, 'ref-late');
  expect(msBetween(expiresAt, payment?.at)).toBeGreaterThanOrEqual(60_000);
});

test('document 1000000023 opens the bank page and decides nothing: PSE ends it by timeout, and nobody pays the key', async () => {
  const key = await keyWith('1000000023');
  await create(orderWithDocument('ref-left', '1000000023'));
  await create(orderWithDocument('ref-unvisited', '1000000002'));
  await pass(3000);
  await eventually(
    async () => (await getTransaction(simulator, 'ref-left')).openedAt !== null,
    () => 'the bank page was opened',
  );
  // Past the ten minutes after which PSE ends a transaction whose bank page was never opened.
  await pass(11 * 60_000);
  await untilState('ref-unvisited', 'FAILED');
  expect(await getTransaction(simulator, 'ref-left')).toMatchObject({ state: 'PENDING' });
  await pass(15 * 60_000);
  expect(await untilState('ref-left', 'FAILED')).toMatchObject({ reason: '15' });
  expect(await getKey(simulator, key)).toMatchObject({ status: 'REGISTERED', payments: [] });
});

test('document 1000000025 pays after a minute on both rails', async () => {
  const key = await keyWith('1000000025');
  await create(orderWithDocument('ref-minute', '1000000025'));
  await pass(60_000);
  expect(await untilPaid(key, 1)).toEqual(['49800.00']);
  const { registeredAt, payments } = await getKey(simulator, key);
  expect(msBetween(registeredAt, payments[0]?.at)).toBeGreaterThanOrEqual(60_000);
  const { createdAt } = await untilState('ref-minute', 'OK');
  const [payment] = await getPayments(simulator, 'ref-minute');
  expect(msBetween(createdAt, payment?.at)).toBeGreaterThanOrEqual(60_000);
});

test('document 1000000019 pays on both rails and sends no notice', async () => {
  const key = await keyWith('1000000019');
  await create(orderWithDocument('ref-silent', '1000000019'));
  await pass(3000);
  await untilPaid(key, 1);
  await untilState('ref-silent', 'OK');
  await untilDrained(simulator);
  expect(getAccepted(receiver, key)).toEqual([]);
  expect(getAccepted(receiver, 'ref-silent')).toEqual([]);
});

test('document 1000000015 executes the first call and loses its answer; the repeat is answered and the payment is made', async () => {
  const items = [withDocument(freshKey(), '1'), withDocument(freshKey(), '1000000015')];
  await expect(breb('keys/register', { keys: items })).rejects.toThrow('fetch failed');
  expect((await breb('keys/register', { keys: items })).body).toMatchObject({
    results: [{ status: 'REGISTERED' }, { status: 'REGISTERED' }],
  });
  const order = orderWithDocument('ref-lost', '1000000015');
  await expect(create(order)).rejects.toThrow('fetch failed');
  expect((await create(order)).body).toMatchObject({ returnCode: 'SUCCESS' });
  await pass(3000);
  await untilPaid(items[1]?.key ?? '', 1);
  await untilState('ref-lost', 'OK');
});

test('document 1000000017 answers the first call four seconds late in real time and the repeat immediately', async () => {
  const item = withDocument(freshKey(), '1000000017');
  const order = orderWithDocument('ref-slow', '1000000017');
  const timed = async (reply: Promise<unknown>) => {
    const elapsedMs = stopwatch();
    await reply;
    return elapsedMs();
  };
  const first = await Promise.all([timed(register(item)), timed(create(order))]);
  expect(Math.min(...first)).toBeGreaterThanOrEqual(3990);
  await within('the repeated calls', 2000, () => Promise.all([register(item), create(order)]));
  await untilPaid(item.key, 1);
  await untilState('ref-slow', 'OK');
});

test('MAGIC_DOCUMENTS contains every odd document from 1000000001 to 1000000025 once', () => {
  const documents = MAGIC_DOCUMENTS.map(({ document }) => document);
  expect(documents).toEqual(Array.from({ length: 13 }, (_, index) => String(1_000_000_001 + 2 * index)));
});
