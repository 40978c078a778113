import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import {
  endReceivers,
  getAccepted,
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
    const [first, second, third] = posts.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(190);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(490);
    const failed = (await journal(simulator, 'notice.attempt')).filter(({ noticeIds }) =>
      (noticeIds as string[]).includes(String(notice?.noticeId)),
    );
    const status = answer === 'reset' ? null : answer;
    expect(failed).toMatchObject([
      { rail: 'BRE_B', status },
      { rail: 'BRE_B', status },
    ]);
  },
);

test('a notice without a response in five seconds is retried and does not block others', async () => {
  const [stuck, other] = [await registered(), await registered()];
  let hangs = 1;
  receiver.answer = (post) => (about(stuck)(post) && hangs-- > 0 ? 'hang' : 200);
  await pay(simulator, { key: stuck });
  await eventually(
    () => receiver.posts.some(about(stuck)),
    () => 'the hanging notice was sent',
  );
  await pay(simulator, { key: other });
  await untilAccepted(receiver, other);
  expect(getAccepted(receiver, stuck)).toEqual([]);
  await untilAccepted(receiver, stuck);
  const [first, second] = receiver.posts.filter(about(stuck)).map(({ atMs }) => atMs);
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(5100);
  expect((second ?? 0) - (first ?? 0)).toBeLessThan(7000);
});

test('notices queued while posts are in flight are batched in order, at most 100 per post and four concurrent posts', async () => {
  const slowReceiver = await startReceiver(50);
  const own = await startSimulator({ args: ['--notices', slowReceiver.url] });
  const keys = await registerMany(await brebClient(own), 1000);
  await pay(own, ...keys.slice(0, 1).map((key) => ({ key })));
  await pay(own, ...keys.slice(1).map((key) => ({ key })));
  await untilDrained(own);
  expect(slowReceiver.maxConcurrentRequests()).toBe(4);
  expect(Math.max(...slowReceiver.posts.map(({ notices }) => notices.length))).toBe(100);
  expect(slowReceiver.posts.length).toBeLessThan(30);
  expect(slowReceiver.posts[0]?.notices).toHaveLength(1);
  expect(slowReceiver.accepted).toHaveLength(1000);
  // Posts are concurrent, but each post keeps the order of the payments.
  const position = new Map(keys.map((key, index) => [key, index]));
  for (const { notices } of slowReceiver.posts) {
    const positions = notices.map((notice) => position.get(String(notice['key'])) ?? -1);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  }
});

test('the notices of 5,000 payments are acknowledged within ten seconds', async () => {
  const own = await startSimulator({ args: ['--notices', receiver.url] });
  const keys = await registerMany(await brebClient(own), 5000);
  const from = performance.now();
  for (let at = 0; at < keys.length; at += 1000) {
    await pay(own, ...keys.slice(at, at + 1000).map((key) => ({ key })));
  }
  await untilDrained(own);
  expect(performance.now() - from).toBeLessThan(10_000);
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
