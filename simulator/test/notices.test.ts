import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectWithin, within } from '../../scripts/testing/expect-within.ts';
import { cleanUp, eventually, PRODUCTION_DEADLINES, type Simulator, startSimulator } from './harness.ts';
import {
  endReceivers,
  type Notice,
  type Post,
  type Receiver,
  startReceiver,
  untilAccepted,
} from './notice-receiver.ts';
import { createOrder, endTransaction, journal, pay, stats, untilDrained } from './payer.ts';
import { type BrebClient, brebClient, call, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let receiver: Receiver;
let breb: BrebClient;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ args: ['--notices', receiver.url] });
  breb = await brebClient(simulator);
});
beforeEach(() => {
  receiver.answer = () => 200;
});
afterAll(async () => {
  await cleanUp();
  endReceivers();
});

async function registered(client = breb): Promise<string> {
  const item = registration(freshKey());
  await client('keys/register', { keys: [item] });
  return item.key;
}

async function registerMany(client: BrebClient, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const items = Array.from({ length: 500 }, () => registration(freshKey()));
    await client('keys/register', { keys: items });
    keys.push(...items.map(({ key }) => key));
  }
  return keys;
}

/** Failed attempts to send a notice, oldest first. */
const failedAttempts = async (at: Simulator, notice: Notice | undefined) =>
  (await journal(at, 'notice.attempt')).filter(({ noticeIds }) =>
    (noticeIds as string[]).includes(String(notice?.noticeId)),
  );

const about = (key: string) => (post: Post) => post.notices.some((notice) => notice['key'] === key);

test('a PSE decision is notified on the PSE path and signed with the PSE secret', async () => {
  const { body } = await createOrder(simulator, 'ref-notified');
  const { transactionId, trazabilityCode } = body as Record<string, string>;
  await endTransaction(simulator, { reference: 'ref-notified', state: 'OK' });
  const [notice] = await untilAccepted(receiver, 'ref-notified');
  expect(notice).toEqual({
    noticeId: expect.any(String),
    reference: 'ref-notified',
    transactionId,
    trazabilityCode,
    state: 'OK',
    amount: '49800.00',
    currency: 'COP',
    reason: null,
    at: expect.stringMatching(/Z$/),
  });
  const post = receiver.posts.find(({ notices }) =>
    notices.some(({ noticeId }) => noticeId === notice?.noticeId),
  );
  expect(post).toMatchObject({ rail: 'pse', signed: true });
});

test.each([503, 400, 401, 302, 'reset'] as const)(
  'a notice answered with %s is retried until 200',
  async (answer) => {
    const key = await registered();
    let failures = 2;
    receiver.answer = (post) => {
      if (!about(key)(post) || failures === 0) return 200;
      failures -= 1;
      return answer;
    };
    await pay(simulator, { key });
    const [notice] = await untilAccepted(receiver, key);
    const posts = receiver.posts.filter(about(key));
    expect(posts).toHaveLength(3);
    expect(new Set(posts.map(({ notices }) => JSON.stringify(notices)))).toHaveLength(1);
    const failed = await failedAttempts(simulator, notice);
    const [firstFailedMs, secondFailedMs] = failed.map(({ at }) => Date.parse(String(at)));
    expect((posts[1]?.atMs ?? 0) - (firstFailedMs ?? 0)).toBeGreaterThanOrEqual(190);
    expect((posts[2]?.atMs ?? 0) - (secondFailedMs ?? 0)).toBeGreaterThanOrEqual(490);
    const status = answer === 'reset' ? null : answer;
    expect(failed).toMatchObject([
      { rail: 'BRE_B', status },
      { rail: 'BRE_B', status },
    ]);
  },
);

test('a notice without a response in five seconds is retried and does not block others', async () => {
  const own = await startSimulator({ args: ['--notices', receiver.url], env: PRODUCTION_DEADLINES });
  const client = await brebClient(own);
  const [stuck, other] = [await registered(client), await registered(client)];
  let hangs = true;
  receiver.answer = (post) => (about(stuck)(post) && hangs ? 'hang' : 200);
  await pay(own, { key: stuck });
  await eventually(
    () => receiver.posts.some(about(stuck)),
    () => 'the hanging notice was sent',
  );
  await pay(own, { key: other });
  await untilAccepted(receiver, other);
  hangs = false;
  const [notice] = await untilAccepted(receiver, stuck);
  const [first, second] = receiver.posts.filter(about(stuck)).map(({ atMs }) => atMs);
  expectWithin('the retry of a notice without a response', (second ?? 0) - (first ?? 0), 7000);
  // The times of the simulator: a slow receiver reads the first post late.
  const [queuedMs] = (await journal(own, 'notice.queued'))
    .filter((line) => (line['notice'] as Notice).noticeId === notice?.noticeId)
    .map(({ at }) => Date.parse(String(at)));
  const [failed] = await failedAttempts(own, notice);
  const failedMs = Date.parse(String(failed?.['at']));
  expect(failed).toMatchObject({ status: null });
  expect(failedMs - (queuedMs ?? failedMs)).toBeGreaterThanOrEqual(4990);
  expect((second ?? 0) - failedMs).toBeGreaterThanOrEqual(190);
});

test('notices queued while posts are in flight are batched in order, at most 100 per post and four concurrent posts', async () => {
  const holding = await startReceiver();
  const released = Promise.withResolvers<void>();
  holding.answer = ({ rail }) => (rail === 'pse' ? 200 : released.promise.then(() => 200));
  const own = await startSimulator({ args: ['--notices', holding.url] });
  const keys = await registerMany(await brebClient(own), 1000);
  await pay(own, ...keys.slice(0, 1).map((key) => ({ key })));
  await pay(own, ...keys.slice(1).map((key) => ({ key })));
  await eventually(
    () => holding.posts.length === 4,
    () => 'four posts are in flight',
  );
  // A fifth post would be sent before this notice of the other rail.
  await createOrder(own, 'ref-beside');
  await endTransaction(own, { reference: 'ref-beside', state: 'OK' });
  await untilAccepted(holding, 'ref-beside');
  released.resolve();
  await untilDrained(own);
  const posts = holding.posts.filter(({ rail }) => rail === 'breb');
  expect(holding.maxConcurrentPosts.breb).toBe(4);
  expect(Math.max(...posts.map(({ notices }) => notices.length))).toBe(100);
  expect(posts.length).toBeLessThan(30);
  expect(posts[0]?.notices).toHaveLength(1);
  expect(posts.flatMap(({ notices }) => notices)).toHaveLength(1000);
  // Posts are concurrent, but each post keeps the order of the payments.
  const position = new Map(keys.map((key, index) => [key, index]));
  for (const { notices } of posts) {
    const positions = notices.map((notice) => position.get(String(notice['key'])) ?? -1);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  }
});

test('the notices of 5,000 payments are acknowledged within ten seconds', async () => {
  const own = await startSimulator({ args: ['--notices', receiver.url] });
  const keys = await registerMany(await brebClient(own), 5000);
  await within('the notices of 5,000 payments', 10_000, async () => {
    for (let at = 0; at < keys.length; at += 1000) {
      await pay(own, ...keys.slice(at, at + 1000).map((key) => ({ key })));
    }
    await untilDrained(own);
  });
  expect((await stats(own)).notices).toMatchObject({ queued: 5000, acknowledged: 5000, attempts: 0 });
});

test('posts rotate over the base URLs, and a failed post is retried at the next URL', async () => {
  const [dead, alive] = [await startReceiver(), await startReceiver()];
  dead.answer = () => 503;
  const own = await startSimulator({ env: { SIM_NOTICE_URLS: `${dead.url}/, ${alive.url}` } });
  const client = await brebClient(own);
  const keys: string[] = [];
  for (let index = 0; index < 4; index += 1) {
    const key = await registered(client);
    keys.push(key);
    await pay(own, { key });
    await untilAccepted(alive, key);
  }
  // Accepted by the receiver, but not yet known to the simulator.
  await untilDrained(own);
  expect(dead.posts).toHaveLength(2);
  expect(alive.accepted.map((notice) => notice['key'])).toEqual(keys);
  expect((await stats(own)).notices).toMatchObject({ acknowledged: 4, attempts: 2 });
});

test('notices stay queued without a target and are sent once POST /control/notices/target sets one', async () => {
  const own = await startSimulator();
  const client = await brebClient(own);
  const [first, second] = [await registered(client), await registered(client)];
  await pay(own, { key: first });
  expect((await stats(own)).notices).toMatchObject({ queued: 1, acknowledged: 0, attempts: 0, waiting: 1 });
  const setTarget = (urls: unknown) => call(own, 'POST', '/control/notices/target', { body: { urls } });
  const elsewhere = await startReceiver();
  expect(await setTarget([`${elsewhere.url}/`])).toEqual({ status: 200, body: { urls: [elsewhere.url] } });
  await untilAccepted(elsewhere, first);
  expect((await journal(own, 'notice.target')).at(-1)).toMatchObject({ urls: [elsewhere.url] });
  await untilDrained(own);
  await setTarget([]);
  await pay(own, { key: second });
  expect((await stats(own)).notices.waiting).toBe(1);
  expect((await setTarget(['ftp://x'])).status).toBe(400);
  await setTarget([elsewhere.url]);
  await untilAccepted(elsewhere, second);
});

test('SIM_BREB_NOTICE_SECRET sets the signing secret of Bre-B notices', async () => {
  const own = await startSimulator({
    args: ['--notices', receiver.url],
    env: { SIM_BREB_NOTICE_SECRET: 'another secret' },
  });
  const key = await registered(await brebClient(own));
  await pay(own, { key });
  await untilAccepted(receiver, key);
  expect(receiver.posts.find(about(key))?.signed).toBe(false);
});
