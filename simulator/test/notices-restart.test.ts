import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import { endReceivers, getAccepted, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import {
  addFault,
  createOrder,
  endKey,
  endTransaction,
  getKey,
  getPayments,
  getTransaction,
  journal,
  orderWithDocument,
  pay,
  shiftTime,
  stats,
  untilDrained,
  withDocument,
} from './payer.ts';
import { brebClient, call, freshKey, pseCall, registration } from './wire-client.ts';

afterAll(async () => {
  await cleanUp();
  endReceivers();
});

async function registered(simulator: Simulator, count: number): Promise<string[]> {
  const items = Array.from({ length: count }, () => registration(freshKey()));
  await (await brebClient(simulator))('keys/register', { keys: items });
  return items.map(({ key }) => key);
}

const restart = async (simulator: Simulator, receiver?: Receiver) => {
  await simulator.end('SIGKILL');
  const args = receiver === undefined ? [] : ['--notices', receiver.url];
  return startSimulator({ dataDir: simulator.dataDir, args });
};

test('a restart after SIGKILL sends unacknowledged notices again, and no acknowledged ones', async () => {
  const receiver = await startReceiver();
  const first = await startSimulator({ args: ['--notices', receiver.url] });
  const [done = '', ...keys] = await registered(first, 300);
  await pay(first, { key: done });
  await untilDrained(first);
  receiver.answer = () => 503;
  await pay(first, ...keys.map((key) => ({ key })));
  await eventually(
    async () => (await stats(first)).notices.attempts > 3,
    () => 'posts were rejected',
  );
  const before = (await stats(first)).notices;
  expect(before).toMatchObject({ queued: 300, acknowledged: 1, waiting: 299 });

  const second = await restart(first, receiver);
  receiver.answer = () => 200;
  await untilDrained(second);
  expect((await stats(second)).notices).toMatchObject({ queued: 300, acknowledged: 300, waiting: 0 });
  for (const key of [done, ...keys]) expect(getAccepted(receiver, key)).toHaveLength(1);

  const third = await restart(second, receiver);
  const [last = ''] = await registered(third, 1);
  await pay(third, { key: last });
  await untilAccepted(receiver, last);
  await untilDrained(third);
  expect(receiver.accepted).toHaveLength(301);
});

test('a payment is dropped together with its notice when the end of the journal is torn', async () => {
  const first = await startSimulator();
  const [kept = '', torn = ''] = await registered(first, 2);
  await pay(first, { key: kept });
  const { length } = await readFile(first.journalFile);
  await pay(first, { key: torn });
  await first.end('SIGKILL');
  const text = await readFile(first.journalFile);
  const paidEnds = text.indexOf('\n', length) + 1;
  expect(text.subarray(length, paidEnds).toString('utf8')).toContain('breb.paid');

  for (const end of [paidEnds, paidEnds + 20]) {
    await writeFile(first.journalFile, text);
    await truncate(first.journalFile, end);
    const again = await startSimulator({ dataDir: first.dataDir });
    expect((await getKey(again, torn)).payments).toEqual([]);
    expect((await getKey(again, kept)).payments).toHaveLength(1);
    expect((await stats(again)).notices).toMatchObject({ queued: 1, waiting: 1 });
    await again.end('SIGKILL');
  }
});

test('a gap in seq after a group of lines stops the start with an error', async () => {
  const first = await startSimulator();
  const [key = ''] = await registered(first, 1);
  await pay(first, { key });
  await first.end('SIGKILL');
  const seq = (await readFile(first.journalFile, 'utf8')).trimEnd().split('\n').length;
  await appendFile(first.journalFile, `${JSON.stringify({ seq: seq + 2, at: 'x', kind: 'pse.banks' })}\n`);
  await expect(startSimulator({ dataDir: first.dataDir })).rejects.toThrow(
    `seq ${seq + 2} follows seq ${seq}`,
  );
});

test('a restart keeps keys, transactions, payments, faults and the notice target', async () => {
  const receiver = await startReceiver();
  const first = await startSimulator({ args: ['--public-url', 'http://banks.example'] });
  await call(first, 'POST', '/control/notices/target', { body: { urls: [receiver.url] } });
  const keys = await registered(first, 5);
  const [paid = '', twice = '', rejected = '', canceled = '', unpaid = ''] = keys;
  const breb = await brebClient(first);
  await pay(first, { key: paid }, { key: twice }, { key: twice, amount: '0.01' });
  await endKey(first, { key: rejected, outcome: 'REJECTED' });
  await endKey(first, { key: canceled, outcome: 'CANCELED' });
  await endKey(first, { key: paid, outcome: 'CANCELED', anyway: true });
  await breb('keys/close', { keys: [unpaid, canceled] });
  const unregistered = freshKey();
  await pay(first, { key: unregistered, amount: '7.00', anyway: true });
  for (const state of ['OK', 'NOT_AUTHORIZED', 'FAILED']) {
    await createOrder(first, `ref-${state}`);
    await endTransaction(first, { reference: `ref-${state}`, state });
  }
  await endTransaction(first, { reference: 'ref-FAILED', state: 'OK', anyway: true });
  await endTransaction(first, { reference: 'ref-OK', state: 'FAILED', anyway: true });
  await addFault(first, { rail: 'PSE', operation: 'notice', fault: 'duplicate', times: 2 });
  await untilDrained(first);
  const paths = [
    ...[...keys, unregistered].map((key) => `/control/keys/${key}`),
    ...['OK', 'NOT_AUTHORIZED', 'FAILED'].map((state) => `/control/transactions/ref-${state}`),
    '/control/payments',
    '/control/faults',
    '/control/stats',
  ];
  const readViews = async (simulator: Simulator) =>
    Promise.all(
      paths.map(async (path) => {
        const { body } = await call(simulator, 'GET', path);
        return path === '/control/stats' ? { ...(body as object), journal: null } : body;
      }),
    );
  const before = await readViews(first);
  await first.end('SIGKILL');
  const second = await startSimulator({
    dataDir: first.dataDir,
    args: ['--public-url', 'http://banks.example'],
  });
  expect(await readViews(second)).toEqual(before);
  // This simulator was started without --notices: the notice target comes from the journal.
  await createOrder(second, 'ref-afterwards');
  await endTransaction(second, { reference: 'ref-afterwards', state: 'OK' });
  await untilAccepted(receiver, 'ref-afterwards', 2);
});

test('after a restart scheduled actions run once and completed actions do not run again', async () => {
  const first = await startSimulator();
  const breb = await brebClient(first);
  const [past, future, late] = [
    withDocument(freshKey(), '1000000009'),
    withDocument(freshKey(), '1000000009'),
    withDocument(freshKey(), '1000000007'),
  ];
  await breb('keys/register', { keys: [past, late] });
  await pseCall(first, 'transactions', orderWithDocument('ref-past', '1000000001'));
  await createOrder(first, 'ref-opened');
  await fetch((await getTransaction(first, 'ref-opened')).bankUrl);
  await shiftTime(first, 10_000);
  await eventually(
    async () => (await stats(first)).payments.count === 3,
    () => 'two payments of the first key and one of the transaction',
  );
  await breb('keys/register', { keys: [future] });
  await breb('keys/close', { keys: [late.key] });
  await createOrder(first, 'ref-unopened');

  const second = await restart(first);
  // The actions of the others may be due already on a slow machine.
  expect((await getKey(second, past.key)).payments).toHaveLength(2);
  expect(await getPayments(second, 'ref-past')).toHaveLength(1);
  await shiftTime(second, 20_000);
  await eventually(
    async () => (await stats(second)).payments.count === 6,
    () => 'two payments of the second key and one of the late key',
  );
  const third = await restart(second);
  await shiftTime(third, 3 * 3_600_000);
  const failed = async () =>
    Promise.all(
      ['ref-opened', 'ref-unopened'].map(
        async (reference) => (await getTransaction(third, reference)).reason,
      ),
    );
  await eventually(
    async () => (await failed()).every((reason) => reason !== null),
    () => 'both undecided transactions have failed',
  );
  expect(await failed()).toEqual(['15', '14']);
  expect((await getKey(third, past.key)).payments).toHaveLength(2);
  expect((await getKey(third, future.key)).payments).toHaveLength(2);
  expect((await getKey(third, late.key)).payments).toHaveLength(1);
  expect((await stats(third)).payments.count).toBe(6);
  expect(await journal(third, 'breb.paid')).toHaveLength(5);
});

test('a notice fault still applies after a restart when the notice has not been attempted', async () => {
  const receiver = await startReceiver();
  receiver.answer = ({ signed }) => (signed ? 200 : 401);
  const first = await startSimulator();
  const [held = '', forged = '', doubled = ''] = await registered(first, 3);
  for (const fault of ['down', 'bad-signature', 'duplicate']) {
    await addFault(first, { rail: 'BRE_B', operation: 'notice', fault, times: 1 });
  }
  for (const key of [held, forged, doubled]) await pay(first, { key });
  const second = await restart(first, receiver);
  await untilAccepted(receiver, forged);
  await untilAccepted(receiver, doubled, 2);
  expect(receiver.posts.some(({ signed }) => !signed)).toBe(true);
  expect(getAccepted(receiver, held)).toEqual([]);
  await call(second, 'DELETE', '/control/faults');
  await untilAccepted(receiver, held);
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the process with exit code 0 while posts hang',
  async (signal) => {
    const receiver = await startReceiver();
    receiver.answer = () => 'hang';
    const simulator = await startSimulator({ args: ['--notices', receiver.url] });
    const [key = ''] = await registered(simulator, 1);
    await pay(simulator, { key });
    await eventually(
      () => receiver.posts.length > 0,
      () => 'the post was received',
    );
    expect(await simulator.end(signal)).toBe(0);
    expect(await journal(simulator, 'notice.attempt')).toEqual([]);
  },
);

test('a payment that could not be journaled sends no notice', async () => {
  const receiver = await startReceiver();
  const first = await startSimulator({ args: ['--notices', receiver.url], maxFileKb: 16 });
  const [key = ''] = await registered(first, 1);
  const orders = Array.from({ length: 200 }, () => ({ key }));
  await expect(pay(first, ...orders)).rejects.toThrow('fetch failed');
  expect(await first.end('SIGTERM')).toBe(1);
  const second = await startSimulator({ dataDir: first.dataDir });
  const written = (await getKey(second, key)).payments.map(({ executionId }) => executionId);
  expect(written.length).toBeLessThan(200);
  const notified = receiver.posts.flatMap(({ notices }) =>
    notices.map(({ executionId }) => String(executionId)),
  );
  expect(notified.filter((executionId) => !written.includes(executionId))).toEqual([]);
});
