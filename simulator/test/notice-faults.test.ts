import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectWithin, stopwatch } from '../../scripts/testing/expect-within.ts';
import { cleanUp, eventually, PRODUCTION_DEADLINES, type Simulator, startSimulator } from './harness.ts';
import { endReceivers, getAccepted, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import {
  addFault,
  createOrder,
  endKey,
  endTransaction,
  getKey,
  journal,
  pay,
  stats,
  untilDrained,
} from './payer.ts';
import { type BrebClient, brebClient, call, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let receiver: Receiver;
let breb: BrebClient;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ args: ['--notices', receiver.url] });
  breb = await brebClient(simulator);
});
afterEach(async () => {
  receiver.answer = () => 200;
  await call(simulator, 'DELETE', '/control/faults');
  await untilDrained(simulator);
});
afterAll(async () => {
  await cleanUp();
  endReceivers();
});

const notice = (fault: string, more: object = {}, on = simulator) =>
  addFault(on, { rail: 'BRE_B', operation: 'notice', fault, times: 1, ...more });

async function registered(client = breb): Promise<string> {
  const item = registration(freshKey());
  await client('keys/register', { keys: [item] });
  return item.key;
}

const postsAbout = (key: string) =>
  receiver.posts.filter(({ notices }) => notices.some((item) => item['key'] === key));

const queuedAbout = async (key: string) =>
  (await journal(simulator, 'notice.queued')).filter(
    (line) => (line['notice'] as { key: string }).key === key,
  );

test('duplicate sends the same notice in two posts, queued once and acknowledged once', async () => {
  const key = await registered();
  await notice('duplicate');
  await pay(simulator, { key });
  const [first, second] = await untilAccepted(receiver, key, 2);
  expect(second).toEqual(first);
  expect(postsAbout(key)).toHaveLength(2);
  expect(await queuedAbout(key)).toMatchObject([{ fault: 'duplicate' }]);
  await untilDrained(simulator);
  const acknowledged = (await journal(simulator, 'notice.acknowledged')).flatMap(
    ({ noticeIds }) => noticeIds,
  );
  expect(acknowledged.filter((id) => id === first?.noticeId)).toHaveLength(1);
});

test('reorder sends the notice after a notice that was queued later', async () => {
  const [held, later] = [await registered(), await registered()];
  await notice('reorder');
  const elapsedMs = stopwatch();
  await pay(simulator, { key: held }, { key: later });
  await untilAccepted(receiver, held);
  // Released by the arrival of the other notice, not by the limit of two seconds.
  expectWithin('the notice after a later one', elapsedMs(), 1900);
  const order = receiver.accepted.map((item) => item['key']).filter((key) => key === held || key === later);
  expect(order).toEqual([later, held]);
});

test('reorder sends the notice after two seconds when no other notice follows', async () => {
  const own = await startSimulator({ args: ['--notices', receiver.url], env: PRODUCTION_DEADLINES });
  const key = await registered(await brebClient(own));
  await notice('reorder', {}, own);
  const elapsedMs = stopwatch();
  await pay(own, { key });
  await untilAccepted(receiver, key);
  expect(elapsedMs()).toBeGreaterThanOrEqual(1990);
});

test('wrong-amount adds one peso to the notice, keeps the stored payment and sends no correction', async () => {
  const [ended, key] = [await registered(), await registered()];
  await notice('wrong-amount');
  // This notice has no amount: the fault waits for a notice with an amount.
  await endKey(simulator, { key: ended, outcome: 'CANCELED' });
  await pay(simulator, { key, amount: '0.99' });
  expect(await untilAccepted(receiver, key)).toMatchObject([{ amount: '1.99' }]);
  expect(await untilAccepted(receiver, ended)).toMatchObject([{ amount: null }]);
  expect((await getKey(simulator, key)).payments).toMatchObject([{ amount: '0.99' }]);
  expect(await queuedAbout(key)).toMatchObject([{ fault: 'wrong-amount', notice: { amount: '1.99' } }]);
});

test('unknown-id sends a notice of an unknown key before the real notice', async () => {
  const key = await registered();
  await notice('unknown-id');
  await pay(simulator, { key });
  const [actual] = await untilAccepted(receiver, key);
  const unknownNotice = receiver.accepted[receiver.accepted.indexOf(actual ?? { noticeId: '' }) - 1];
  const unknownKey = String(unknownNotice?.['key']);
  expect(unknownKey).toMatch(/^@[A-Z0-9]{19}$/);
  expect(unknownNotice).toMatchObject({ type: 'SETTLED', amount: '49800.00' });
  for (const id of ['noticeId', 'internalId', 'executionId', 'endToEndId']) {
    expect(unknownNotice?.[id]).not.toBe(actual?.[id]);
  }
  expect((await call(simulator, 'GET', `/control/keys/${unknownKey}`)).status).toBe(404);
  expect(await queuedAbout(unknownKey)).toMatchObject([{ fault: 'unknown-id' }]);
  expect(await queuedAbout(key)).toMatchObject([{ fault: null }]);
});

test('unknown-id on PSE sends a notice with an unknown reference of 32 characters', async () => {
  await createOrder(simulator, 'ref-stranger');
  await addFault(simulator, { rail: 'PSE', operation: 'notice', fault: 'unknown-id', times: 1 });
  await endTransaction(simulator, { reference: 'ref-stranger', state: 'OK' });
  const [actual] = await untilAccepted(receiver, 'ref-stranger');
  const unknownNotice = receiver.accepted[receiver.accepted.indexOf(actual ?? { noticeId: '' }) - 1];
  expect(unknownNotice?.['reference']).toMatch(/^[0-9A-HJKMNP-TV-Z]{32}$/);
  expect(unknownNotice?.['transactionId']).not.toBe(actual?.['transactionId']);
});

test('bad-signature sends the first attempt alone with a wrong signature and the next with a valid one', async () => {
  const [forged, other] = [await registered(), await registered()];
  receiver.answer = ({ signed }) => (signed ? 200 : 401);
  await notice('bad-signature');
  await pay(simulator, { key: forged }, { key: other });
  await untilAccepted(receiver, forged);
  await untilAccepted(receiver, other);
  expect(postsAbout(forged).map(({ signed }) => signed)).toEqual([false, true]);
  expect(postsAbout(forged)[0]?.notices).toHaveLength(1);
  expect(postsAbout(other).map(({ signed }) => signed)).toEqual([true]);
});

test('lost-notice neither queues nor sends the notice, and a query returns the payment', async () => {
  const [lost, next] = [await registered(), await registered()];
  await notice('lost-notice');
  await pay(simulator, { key: lost });
  await pay(simulator, { key: next });
  await untilAccepted(receiver, next);
  await untilDrained(simulator);
  expect(postsAbout(lost)).toEqual([]);
  expect(await queuedAbout(lost)).toEqual([]);
  expect((await journal(simulator, 'fault.applied')).at(-1)).toMatchObject({
    fault: 'lost-notice',
    operation: 'notice',
  });
  expect((await breb('keys/query', { keys: [lost] })).body).toMatchObject({ results: [{ payments: [{}] }] });
});

test('lost-answer sends a notice again that the receiver has accepted', async () => {
  const key = await registered();
  await notice('lost-answer');
  await pay(simulator, { key });
  const [first, second] = await untilAccepted(receiver, key, 2);
  expect(second).toEqual(first);
});

test.each([
  ['reset', {}],
  // Ends with the deadline for a response.
  ['hang', PRODUCTION_DEADLINES],
] as const)('%s interrupts the first attempt in the middle of its body', async (fault, env) => {
  const own = await startSimulator({ args: ['--notices', receiver.url], env });
  const key = await registered(await brebClient(own));
  const before = receiver.broken.count;
  await notice(fault, {}, own);
  await pay(own, { key });
  await untilAccepted(receiver, key);
  await untilDrained(own);
  await eventually(
    () => receiver.broken.count > before,
    () => 'the first attempt broke',
  );
  expect(receiver.broken.count).toBe(before + 1);
  // All other attempts were complete. There is one, unless a stalled receiver met the deadline too.
  const failed = await journal(own, 'notice.attempt');
  expect(failed[0]).toMatchObject({ status: null });
  expect(postsAbout(key)).toHaveLength(failed.length);
});

test('slow delays the notice for the configured time and does not delay later notices', async () => {
  const delayed = await registered();
  await notice('slow', { ms: 600 });
  const elapsedMs = stopwatch();
  await pay(simulator, { key: delayed });
  await untilAccepted(receiver, delayed);
  expect(elapsedMs()).toBeGreaterThanOrEqual(590);

  // So slow that no machine delays the later notice longer. It is never sent, so it has its own simulator.
  const own = await startSimulator({ args: ['--notices', receiver.url] });
  const client = await brebClient(own);
  const [slow, next] = [await registered(client), await registered(client)];
  await notice('slow', { ms: 600_000 }, own);
  await pay(own, { key: slow });
  await pay(own, { key: next });
  await untilAccepted(receiver, next);
  expect(getAccepted(receiver, slow)).toEqual([]);
});

test('down holds every notice of the rail, retries included, and sends all when it is removed', async () => {
  const before = await registered();
  const answered = Promise.withResolvers<void>();
  receiver.answer = () => answered.promise.then(() => 503);
  await pay(simulator, { key: before });
  await eventually(
    () => postsAbout(before).length > 0,
    () => 'the first attempt is in flight',
  );
  const { attempts } = (await stats(simulator)).notices;
  const id = await addFault(simulator, { rail: 'BRE_B', operation: 'notice', fault: 'down' });
  answered.resolve();
  await eventually(
    async () => (await stats(simulator)).notices.attempts > attempts,
    () => 'the first attempt failed',
  );
  const failedForMs = stopwatch();
  receiver.answer = () => 200;
  const keys = await Promise.all(Array.from({ length: 20 }, () => registered()));
  for (const key of keys) await pay(simulator, { key });
  await eventually(
    () => failedForMs() > 250,
    () => 'the retry is due',
  );
  // The other rail is not affected: its notice is accepted while these are held.
  await createOrder(simulator, 'ref-while-down');
  await endTransaction(simulator, { reference: 'ref-while-down', state: 'FAILED' });
  await untilAccepted(receiver, 'ref-while-down');
  await eventually(
    async () => (await stats(simulator)).notices.waiting === 21,
    () => '21 notices wait',
  );
  expect(postsAbout(before)).toHaveLength(1);
  const posts = receiver.posts.length;
  await call(simulator, 'DELETE', `/control/faults/${id}`);
  await untilDrained(simulator);
  expect(getAccepted(receiver, before)).toHaveLength(1);
  expect(keys.map((key) => getAccepted(receiver, key).length)).toEqual(keys.map(() => 1));
  expect(receiver.posts.length - posts).toBeLessThanOrEqual(3);
});

test('down also holds notices that were queued before it was added', async () => {
  const own = await startSimulator();
  const item = registration(freshKey());
  await (await brebClient(own))('keys/register', { keys: [item] });
  await pay(own, { key: item.key });
  await addFault(own, { rail: 'BRE_B', operation: 'notice', fault: 'down' });
  const urls = [receiver.url];
  await call(own, 'POST', '/control/notices/target', { body: { urls } });
  await createOrder(own, 'ref-passes');
  await endTransaction(own, { reference: 'ref-passes', state: 'OK' });
  await untilAccepted(receiver, 'ref-passes');
  expect(postsAbout(item.key)).toEqual([]);
  await call(own, 'DELETE', '/control/faults');
  await untilAccepted(receiver, item.key);
});

test('down with times holds that many notices and sends later ones', async () => {
  const [held, free] = [await registered(), await registered()];
  await notice('down');
  await pay(simulator, { key: held });
  await pay(simulator, { key: free });
  await untilAccepted(receiver, free);
  expect(getAccepted(receiver, held)).toEqual([]);
  await call(simulator, 'DELETE', '/control/faults');
  await untilAccepted(receiver, held);
});

test('a fault with operation * does not affect notices, and a notice fault neither affects nor counts calls', async () => {
  const key = await registered();
  await addFault(simulator, { rail: 'BRE_B', operation: '*', fault: 'down' });
  await pay(simulator, { key });
  await untilAccepted(receiver, key);
  await call(simulator, 'DELETE', '/control/faults');
  const calls = async () => (await stats(simulator)) as unknown as { calls: object; faulted: object };
  const before = await calls();
  await addFault(simulator, { rail: 'BRE_B', operation: 'notice', fault: 'duplicate', times: 1 });
  await pay(simulator, { key });
  await untilAccepted(receiver, key, 3);
  const after = await calls();
  expect([after.calls, after.faulted]).toEqual([before.calls, before.faulted]);
});

test('adding a notice-only fault to a call operation returns 400', async () => {
  for (const operation of ['*', 'register']) {
    const body = { rail: 'BRE_B', operation, fault: 'duplicate' };
    const reply = await call(simulator, 'POST', '/control/faults', { body });
    expect(reply).toMatchObject({ status: 400, body: { message: expect.stringContaining('notice') } });
  }
});
