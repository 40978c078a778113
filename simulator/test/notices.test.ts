import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { cleanUp, eventually, type Simulator, startSimulator } from './harness.ts';
import {
  acceptedOf,
  endReceivers,
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

async function bulk(client: BrebClient, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const items = Array.from({ length: 500 }, () => registration(freshKey()));
    await client('keys/register', { keys: items });
    keys.push(...items.map(({ key }) => key));
  }
  return keys;
}

const about = (key: string) => (post: Post) => post.notices.some((notice) => notice['key'] === key);

test('a PSE decision is told on its own path, with its own secret', async () => {
  const { body } = await createOrder(simulator, 'ref-told');
  const { transactionId, trazabilityCode } = body as Record<string, string>;
  await endTransaction(simulator, { reference: 'ref-told', state: 'OK' });
  const [notice] = await untilAccepted(receiver, 'ref-told');
  expect(notice).toEqual({
    noticeId: expect.any(String),
    reference: 'ref-told',
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
  'a notice answered by %s is sent again until 200',
  async (answer) => {
    const key = await registered();
    let refusals = 2;
    receiver.answer = (post) => {
      if (!about(key)(post) || refusals === 0) return 200;
      refusals -= 1;
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

test('no answer within five seconds is none, and meanwhile others pass', async () => {
  const [stuck, other] = [await registered(), await registered()];
  let hangs = 1;
  receiver.answer = (post) => (about(stuck)(post) && hangs-- > 0 ? 'hang' : 200);
  await pay(simulator, { key: stuck });
  await eventually(
    () => receiver.posts.some(about(stuck)),
    () => 'the notice that hangs was sent',
  );
  await pay(simulator, { key: other });
  await untilAccepted(receiver, other);
  expect(acceptedOf(receiver, stuck)).toEqual([]);
  await untilAccepted(receiver, stuck);
  const [first, second] = receiver.posts.filter(about(stuck)).map(({ atMs }) => atMs);
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(5100);
  expect((second ?? 0) - (first ?? 0)).toBeLessThan(7000);
});

test('what gathers while posts are under way goes out together, in order, at most a hundred a post and four posts at once', async () => {
  const slowly = await startReceiver(50);
  const own = await startSimulator({ args: ['--notices', slowly.url] });
  const keys = await bulk(await brebClient(own), 1000);
  await pay(own, ...keys.slice(0, 1).map((key) => ({ key })));
  await pay(own, ...keys.slice(1).map((key) => ({ key })));
  await untilDrained(own);
  expect(slowly.maxConcurrentRequests()).toBe(4);
  expect(Math.max(...slowly.posts.map(({ notices }) => notices.length))).toBe(100);
  expect(slowly.posts.length).toBeLessThan(30);
  expect(slowly.posts[0]?.notices).toHaveLength(1);
  expect(slowly.accepted).toHaveLength(1000);
  // Posts race each other, but within each the order is that of the payments.
  const place = new Map(keys.map((key, index) => [key, index]));
  for (const { notices } of slowly.posts) {
    const places = notices.map((notice) => place.get(String(notice['key'])) ?? -1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
});

test('five thousand payments are acknowledged within seconds', async () => {
  const own = await startSimulator({ args: ['--notices', receiver.url] });
  const keys = await bulk(await brebClient(own), 5000);
  const from = performance.now();
  for (let at = 0; at < keys.length; at += 1000) {
    await pay(own, ...keys.slice(at, at + 1000).map((key) => ({ key })));
  }
  await untilDrained(own);
  expect(performance.now() - from).toBeLessThan(10_000);
  expect((await stats(own)).notices).toMatchObject({ queued: 5000, acknowledged: 5000, attempts: 0 });
});

test('posts go round the bases, and one that failed is repeated at the next', async () => {
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

test('without a target notices wait, and go out once the control interface names one; an empty list stops them', async () => {
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

test('the secrets can be set by the environment, and a signature by another is not ours', async () => {
  const own = await startSimulator({
    args: ['--notices', receiver.url],
    env: { SIM_BREB_NOTICE_SECRET: 'another secret' },
  });
  const key = await registered(await brebClient(own));
  await pay(own, { key });
  await untilAccepted(receiver, key);
  expect(receiver.posts.find(about(key))?.signed).toBe(false);
});
