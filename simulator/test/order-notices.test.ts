import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleanUp, type Simulator } from './harness.ts';
import { endReceivers, getAccepted, type Receiver, startReceiver, untilAccepted } from './notice-receiver.ts';
import {
  getExecutions,
  getOrder,
  order,
  queryOrders,
  send,
  startOrderSimulator,
  untilEnded,
} from './order-driver.ts';
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

test('a settlement and a rejection each send a signed notice after the end is journaled', async () => {
  let journaled: Promise<unknown> = Promise.resolve();
  receiver.answer = () => {
    journaled = journal(simulator, 'breb.executed');
    return 200;
  };
  const settled = await ended();
  const { endToEndId, internalId, executionId, endedAt } = settled;
  const about = { noticeId: expect.any(String), amount: '49800.00', currency: 'COP' };
  expect(await untilAccepted(receiver, endToEndId)).toEqual([
    { ...about, type: 'ORDER_SETTLED', endToEndId, internalId, executionId, code: null, at: endedAt },
  ]);
  expect(await journaled).toContainEqual(expect.objectContaining({ endToEndId, executionId }));
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

test('an order notice is retried until it is acknowledged, and not afterwards', async () => {
  let attempts = 0;
  receiver.answer = () => {
    attempts += 1;
    return attempts <= 2 ? 503 : 200;
  };
  const { endToEndId } = await ended();
  const [accepted] = await untilAccepted(receiver, endToEndId);
  expect(postsAbout(endToEndId)).toHaveLength(3);
  const sent = postsAbout(endToEndId).flatMap(({ notices }) => notices);
  expect(sent).toEqual([accepted, accepted, accepted]);
  // Another notice is accepted in the meantime, and no notice waits for a retry.
  await untilAccepted(receiver, (await ended()).endToEndId);
  await untilDrained(simulator);
  expect(postsAbout(endToEndId)).toHaveLength(3);
});

test('notices of orders that end together share posts', async () => {
  const orders = Array.from({ length: 300 }, () => order('@TESTOK'));
  const before = receiver.posts.length;
  await send(breb, ...orders);
  await untilEnded(simulator, orders[0]?.endToEndId ?? '');
  await untilDrained(simulator);
  expect(orders.map(({ endToEndId }) => getAccepted(receiver, endToEndId).length)).toEqual(
    orders.map(() => 1),
  );
  expect(receiver.posts.length - before).toBeLessThan(30);
});

test('wrong-amount adds one peso to the order notice and keeps the order and the execution', async () => {
  await notice('wrong-amount');
  const { endToEndId } = await ended();
  expect(await untilAccepted(receiver, endToEndId)).toMatchObject([{ amount: '49801.00' }]);
  expect(await queryOrders(breb, endToEndId)).toMatchObject([{ amount: '49800.00' }]);
  expect(await getExecutions(simulator, endToEndId)).toMatchObject([{ amount: '49800.00' }]);
});

test.each(['@TESTOK', '@TESTDECLINED'])(
  'unknown-id sends a notice of an unknown order before the real notice of an order to %s',
  async (key) => {
    await notice('unknown-id');
    const { endToEndId } = await ended(key);
    const [actual] = await untilAccepted(receiver, endToEndId);
    const unknownNotice = receiver.accepted[receiver.accepted.indexOf(actual ?? { noticeId: '' }) - 1];
    expect(unknownNotice).toEqual({
      ...actual,
      noticeId: expect.any(String),
      endToEndId: expect.stringMatching(/^[A-Z0-9]{1,40}$/),
      internalId: expect.any(String),
      executionId: actual?.['executionId'] === null ? null : expect.any(String),
    });
    for (const id of ['noticeId', 'endToEndId', 'internalId'])
      expect(unknownNotice?.[id]).not.toBe(actual?.[id]);
    const unknownEndToEndId = String(unknownNotice?.['endToEndId']);
    expect((await call(simulator, 'GET', `/control/orders/${unknownEndToEndId}`)).status).toBe(404);
    expect(await getExecutions(simulator, unknownEndToEndId)).toEqual([]);
  },
);

test('duplicate, bad-signature and lost-notice apply to order notices', async () => {
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
  expect(await queryOrders(breb, lost.endToEndId)).toMatchObject([{ status: 'SETTLED' }]);
});

test('after SIGKILL an unacknowledged order notice is sent again and the order is not executed again', async () => {
  const own = await startOrderSimulator();
  const sent = order('@TESTOK');
  await send(await brebClient(own), sent);
  const { endToEndId } = sent;
  await untilEnded(own, endToEndId);
  const before = await getOrder(own, endToEndId);
  await own.end('SIGKILL');
  const again = await startOrderSimulator(['--notices', receiver.url], own.dataDir);
  const { executionId } = before;
  expect(await untilAccepted(receiver, endToEndId)).toMatchObject([{ type: 'ORDER_SETTLED', executionId }]);
  await untilDrained(again);
  expect(await getOrder(again, endToEndId)).toEqual(before);
  expect(await getExecutions(again, endToEndId)).toHaveLength(1);
  expect(await journal(again, 'breb.executed')).toHaveLength(1);
});
