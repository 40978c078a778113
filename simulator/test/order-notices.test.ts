import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator } from './harness.ts';
import { acceptedOf, endReceivers, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import { ask, executionsOf, order, orderOf, send, startOrderSimulator, untilEnded } from './order-driver.ts';
import { addFault, journal, untilDrained } from './payer.ts';
import { type BrebClient, brebClient, call } from './wire-client.ts';

let simulator: Simulator;
let receiver: Receiver;
let breb: BrebClient;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startOrderSimulator(['--notices', receiver.url]);
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

const notice = (fault: string) =>
  addFault(simulator, { rail: 'BRE_B', operation: 'notice', fault, times: 1 });

async function ended(key = '@TESTOK') {
  const sent = order(key);
  await send(breb, sent);
  const { executionId, endedAt } = await untilEnded(simulator, sent.endToEndId);
  return { ...sent, executionId, endedAt };
}

const postsAbout = (id: string) =>
  receiver.posts.filter(({ notices }) => notices.some((item) => item['endToEndId'] === id));

test('a settlement and a rejection are told by a signed notice each, after the end is in the journal', async () => {
  let known: Promise<unknown> = Promise.resolve();
  receiver.answer = () => {
    known = journal(simulator, 'breb.executed');
    return 200;
  };
  const settled = await ended();
  const { endToEndId, internalId, executionId, endedAt } = settled;
  const about = { noticeId: expect.any(String), amount: '49800.00', currency: 'COP' };
  expect(await untilAccepted(receiver, endToEndId)).toEqual([
    { ...about, type: 'ORDER_SETTLED', endToEndId, internalId, executionId, code: null, at: endedAt },
  ]);
  expect(await known).toContainEqual(expect.objectContaining({ endToEndId, executionId }));
  const rejected = await ended('@TESTDECLINED');
  expect(await untilAccepted(receiver, rejected.endToEndId)).toEqual([
    {
      ...about,
      type: 'ORDER_REJECTED',
      endToEndId: rejected.endToEndId,
      internalId: rejected.internalId,
      executionId: null,
      code: '4010',
      at: rejected.endedAt,
    },
  ]);
  const posts = [...postsAbout(endToEndId), ...postsAbout(rejected.endToEndId)];
  expect(posts.map(({ rail, signed }) => [rail, signed])).toEqual([
    ['breb', true],
    ['breb', true],
  ]);
});

test('a notice that is not acknowledged comes again until it is, and not after', async () => {
  let refusals = 0;
  receiver.answer = () => {
    refusals += 1;
    return refusals <= 2 ? 503 : 200;
  };
  const { endToEndId } = await ended();
  const [accepted] = await untilAccepted(receiver, endToEndId);
  expect(postsAbout(endToEndId)).toHaveLength(3);
  const sent = postsAbout(endToEndId).flatMap(({ notices }) => notices);
  expect(sent).toEqual([accepted, accepted, accepted]);
  // Another one comes and goes meanwhile.
  await untilAccepted(receiver, (await ended()).endToEndId);
  expect(postsAbout(endToEndId)).toHaveLength(3);
});

test('many that end together share their posts', async () => {
  const orders = Array.from({ length: 300 }, () => order('@TESTOK'));
  const before = receiver.posts.length;
  await send(breb, ...orders);
  await untilEnded(simulator, orders[0]?.endToEndId ?? '');
  await untilDrained(simulator);
  expect(orders.map(({ endToEndId }) => acceptedOf(receiver, endToEndId).length)).toEqual(
    orders.map(() => 1),
  );
  expect(receiver.posts.length - before).toBeLessThan(30);
});

test('wrong-amount: the notice says a peso more, the standing and the execution are right', async () => {
  await notice('wrong-amount');
  const { endToEndId } = await ended();
  expect(await untilAccepted(receiver, endToEndId)).toMatchObject([{ amount: '49801.00' }]);
  expect(await ask(breb, endToEndId)).toMatchObject([{ amount: '49800.00' }]);
  expect(await executionsOf(simulator, endToEndId)).toMatchObject([{ amount: '49800.00' }]);
});

test.each(['@TESTOK', '@TESTDECLINED'])(
  'unknown-id: before the true notice of %s comes one of an order that nobody ever sent',
  async (key) => {
    await notice('unknown-id');
    const { endToEndId } = await ended(key);
    const [truth] = await untilAccepted(receiver, endToEndId);
    const stranger = receiver.accepted[receiver.accepted.indexOf(truth ?? { noticeId: '' }) - 1];
    expect(stranger).toEqual({
      ...truth,
      noticeId: expect.any(String),
      endToEndId: expect.stringMatching(/^[A-Z0-9]{1,40}$/),
      internalId: expect.any(String),
      executionId: truth?.['executionId'] === null ? null : expect.any(String),
    });
    for (const id of ['noticeId', 'endToEndId', 'internalId']) expect(stranger?.[id]).not.toBe(truth?.[id]);
    const strange = String(stranger?.['endToEndId']);
    expect((await call(simulator, 'GET', `/control/orders/${strange}`)).status).toBe(404);
    expect(await executionsOf(simulator, strange)).toEqual([]);
  },
);

test('duplicate, bad-signature and lost-notice strike notices of orders as they strike others', async () => {
  await notice('duplicate');
  const twice = await ended();
  const [first, second] = await untilAccepted(receiver, twice.endToEndId, 2);
  expect(second).toEqual(first);

  receiver.answer = ({ signed }) => (signed ? 200 : 401);
  await notice('bad-signature');
  const forged = await ended();
  await untilAccepted(receiver, forged.endToEndId);
  expect(postsAbout(forged.endToEndId).map(({ signed }) => signed)).toEqual([false, true]);

  await notice('lost-notice');
  const lost = await ended();
  await untilAccepted(receiver, (await ended()).endToEndId);
  await untilDrained(simulator);
  expect(postsAbout(lost.endToEndId)).toEqual([]);
  expect(await ask(breb, lost.endToEndId)).toMatchObject([{ status: 'SETTLED' }]);
});

test('after kill -9 a notice that nobody acknowledged is sent again, and the order is not executed again', async () => {
  const own = await startOrderSimulator();
  const sent = order('@TESTOK');
  await send(await brebClient(own), sent);
  const { endToEndId } = sent;
  await untilEnded(own, endToEndId);
  const before = await orderOf(own, endToEndId);
  await own.end('SIGKILL');
  const again = await startOrderSimulator(['--notices', receiver.url], own.dataDir);
  const { executionId } = before;
  expect(await untilAccepted(receiver, endToEndId)).toMatchObject([{ type: 'ORDER_SETTLED', executionId }]);
  await untilDrained(again);
  expect(await orderOf(again, endToEndId)).toEqual(before);
  expect(await executionsOf(again, endToEndId)).toHaveLength(1);
  expect(await journal(again, 'breb.executed')).toHaveLength(1);
});
