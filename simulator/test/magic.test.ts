import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAGIC_DOCUMENTS } from '../src/magic-documents.ts';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import { acceptedOf, endReceivers, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import {
  keyOf,
  orderWithDocument,
  pay,
  shiftTime,
  transactionOf,
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

/** Only ever forward, as the world's time. A token may have expired on the way. */
async function pass(ms: number): Promise<void> {
  await shiftTime(simulator, (shiftedMs += ms));
  breb = await brebClient(simulator);
}

const register = (item: object) => breb('keys/register', { keys: [item] });
const create = (order: object) => pseCall(simulator, 'transactions', order);

/** Ends of the simulator's clock: an hour from now there. */
const inAnHour = () => new Date(Date.now() + shiftedMs + 3_600_000).toISOString();

async function keyWith(documentNumber: string, changes: object = {}): Promise<string> {
  const item = withDocument(freshKey(), documentNumber, { expiresAt: inAnHour(), ...changes });
  await register(item);
  return item.key;
}

async function untilPaid(key: string, count: number) {
  await eventually(
    async () => (await keyOf(simulator, key)).payments.length >= count,
    () => `${key} has ${count} payment(s)`,
  );
  return (await keyOf(simulator, key)).payments.map(({ amount }) => amount);
}

async function untilState(reference: string, state: string) {
  await eventually(
    async () => (await transactionOf(simulator, reference)).state === state,
    () => `${reference} is ${state}`,
  );
  return transactionOf(simulator, reference);
}

test('nothing happens by itself before three seconds, nor with any other document', async () => {
  const [magic, plain] = [await keyWith('1000000001'), await keyWith('1000000002')];
  await pass(2000);
  expect((await keyOf(simulator, magic)).payments).toEqual([]);
  await pass(1000);
  expect(await untilPaid(magic, 1)).toEqual(['49800.00']);
  await pass(60_000);
  // A later one is paid: had the plain one been due, it would have been before.
  const later = await keyWith('1000000001');
  await pass(3000);
  await untilPaid(later, 1);
  expect((await keyOf(simulator, plain)).payments).toEqual([]);
  expect((await keyOf(simulator, magic)).payments).toHaveLength(1);
});

test.each([
  ['1000000001', '49800.00', ['49800.00']],
  ['1000000009', '49800.00', ['49800.00', '49800.00']],
  ['1000000011', '49800.01', ['24900.00']],
  ['1000000011', '0.01', ['0.01']],
  ['1000000013', '49800.01', ['99600.02']],
])('Bre-B: document %s pays a key of %s by %j', async (document, amount, expected) => {
  const key = await keyWith(document, { amount });
  await pass(3000);
  expect(await untilPaid(key, 1)).toEqual(expected.slice(0, 1));
  await pass(1000);
  expect(await untilPaid(key, expected.length)).toEqual(expected);
  expect(await untilAccepted(receiver, key, expected.length)).toHaveLength(expected.length);
});

test.each([
  ['1000000003', 'REJECTED', '4016'],
  ['1000000005', 'CANCELED', null],
])('Bre-B: document %s ends a key as %s', async (document, status, code) => {
  const key = await keyWith(document);
  await pass(3000);
  expect(await untilAccepted(receiver, key)).toMatchObject([{ type: status, code }]);
  expect(await keyOf(simulator, key)).toMatchObject({ status, code, payments: [] });
});

test('Bre-B: the late payer pays three seconds after the key was closed, and not before', async () => {
  const key = await keyWith('1000000007');
  await pass(4_000_000);
  await breb('keys/close', { keys: [key] });
  expect((await keyOf(simulator, key)).payments).toEqual([]);
  await pass(3000);
  expect(await untilPaid(key, 1)).toEqual(['49800.00']);
  expect(await keyOf(simulator, key)).toMatchObject({ status: 'CLOSED' });
  await untilAccepted(receiver, key);
});

test('Bre-B: a registration of the bank that is down is refused with 4016', async () => {
  const item = withDocument(freshKey(), '1000000021');
  expect((await register(item)).body).toMatchObject({ results: [{ status: 'REJECTED', code: '4016' }] });
});

test('a key that is closed or paid by hand before its time is not paid by itself', async () => {
  const closed = await keyWith('1000000001');
  const byHand = await keyWith('1000000001');
  const later = await keyWith('1000000001');
  await breb('keys/close', { keys: [closed] });
  await pay(simulator, { key: byHand, amount: '1.00' });
  await pass(3000);
  await untilPaid(later, 1);
  expect((await keyOf(simulator, byHand)).payments).toMatchObject([{ amount: '1.00' }]);
  expect((await keyOf(simulator, closed)).payments).toEqual([]);
});

test.each([
  ['1000000001', 'OK', null, 1],
  ['1000000003', 'NOT_AUTHORIZED', '11', 1],
  ['1000000005', 'NOT_AUTHORIZED', '1', 1],
  ['1000000009', 'OK', null, 2],
  ['1000000011', 'OK', null, 1],
  ['1000000013', 'OK', null, 1],
])(
  'PSE: document %s ends a transaction as %s, reason %s, told %i time(s)',
  async (document, state, reason, times) => {
    const reference = `ref-${document}`;
    await create(orderWithDocument(reference, document));
    await pass(3000);
    expect(await untilState(reference, state)).toMatchObject({ state, reason, amount: '49800.00' });
    const told = await untilAccepted(receiver, reference, times);
    expect(told).toMatchObject(told.map(() => ({ state, reason })));
    expect(new Set(told.map(({ noticeId }) => noticeId)).size).toBe(1);
    await untilDrained(simulator);
    expect(acceptedOf(receiver, reference)).toHaveLength(times);
  },
);

test('PSE: the late approval comes a minute after the expiry, though nobody opened the page', async () => {
  await create(orderWithDocument('ref-late', '1000000007', { expiresAt: inAnHour() }));
  const other = orderWithDocument('ref-other', '1000000002', { expiresAt: inAnHour() });
  await create(other);
  await pass(3_600_000 + 55_000);
  await untilState('ref-other', 'FAILED');
  expect(await transactionOf(simulator, 'ref-late')).toMatchObject({ state: 'PENDING' });
  await pass(5000);
  await untilState('ref-late', 'OK');
});

test('the notice that never comes: both rails have the money, nobody is told', async () => {
  const key = await keyWith('1000000019');
  await create(orderWithDocument('ref-silent', '1000000019'));
  await pass(3000);
  await untilPaid(key, 1);
  await untilState('ref-silent', 'OK');
  await untilDrained(simulator);
  expect(acceptedOf(receiver, key)).toEqual([]);
  expect(acceptedOf(receiver, 'ref-silent')).toEqual([]);
});

test('the lost answer: the whole first call is carried out and lost, its repeat is answered, and it is paid', async () => {
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

test('the slow answer: the first call is answered four seconds late in real time, its repeat at once', async () => {
  const item = withDocument(freshKey(), '1000000017');
  const order = orderWithDocument('ref-slow', '1000000017');
  const timed = async (reply: Promise<unknown>) => {
    const from = performance.now();
    await reply;
    return performance.now() - from;
  };
  const first = await Promise.all([timed(register(item)), timed(create(order))]);
  expect(Math.min(...first)).toBeGreaterThanOrEqual(3990);
  expect(Math.max(...(await Promise.all([timed(register(item)), timed(create(order))])))).toBeLessThan(2000);
  await untilPaid(item.key, 1);
  await untilState('ref-slow', 'OK');
});

test('every odd document up to 21 is in the table, once', () => {
  const documents = MAGIC_DOCUMENTS.map(({ document }) => document);
  expect(documents).toEqual(Array.from({ length: 11 }, (_, index) => String(1_000_000_001 + 2 * index)));
});
