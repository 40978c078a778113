import { afterAll, expect, test } from 'vitest';
import { cleanUp } from './harness.ts';
import { endOrder, order, passTime, send, startOrderSimulator } from './order-driver.ts';
import {
  type BrebClient,
  brebClient,
  call,
  freshKey,
  pseCall,
  pseOrder,
  registration,
} from './wire-client.ts';

afterAll(cleanUp);

interface Page {
  readonly results: readonly Record<string, unknown>[];
  readonly next: string | null;
}

const EVER = '2000-01-01T00:00:00Z';

async function list(breb: BrebClient, what: 'orders' | 'payments', body: object): Promise<Page> {
  const { status, body: page } = await breb(`${what}/list`, body);
  if (status !== 200) throw new Error(`${what}/list: ${status} ${JSON.stringify(page)}`);
  return page as Page;
}

test('orders are listed with receiver, amount and outcome, also after a restart', async () => {
  const first = await startOrderSimulator();
  const breb = await brebClient(first);
  const [settled, rejected, waiting] = [
    order('@TESTOK'),
    order('@TESTOK'),
    order('@TESTOK', { amount: '12.34' }),
  ];
  await send(breb, settled, rejected, waiting, order('no key'));
  await endOrder(first, { endToEndId: settled.endToEndId, outcome: 'SETTLED' });
  await endOrder(first, { endToEndId: rejected.endToEndId, outcome: 'REJECTED', code: '4016' });
  const page = await list(breb, 'orders', { since: EVER });
  expect(page).toMatchObject({
    results: [
      { endToEndId: settled.endToEndId, internalId: settled.internalId, key: '@TESTOK', status: 'SETTLED' },
      { endToEndId: rejected.endToEndId, status: 'REJECTED', code: '4016', executionId: null },
      { endToEndId: waiting.endToEndId, status: 'PROCESSING', amount: '12.34', endedAt: null },
    ],
    next: null,
  });
  await first.end('SIGKILL');
  const second = await startOrderSimulator([], first.dataDir);
  expect(await list(await brebClient(second), 'orders', { since: EVER })).toEqual(page);
});

test('an order is listed by its end too, and nothing before the time', async () => {
  const simulator = await startOrderSimulator();
  const breb = await brebClient(simulator);
  const [ended, waiting] = [order('@TESTOK'), order('@TESTOK')];
  await send(breb, ended, waiting);
  const { receivedAt } = (await list(breb, 'orders', { since: EVER })).results[0] as { receivedAt: string };
  const since = new Date(Date.parse(receivedAt) + 1).toISOString();
  // The end must be at or after it, also when all calls take less than a millisecond.
  await passTime(simulator, 1);
  await endOrder(simulator, { endToEndId: ended.endToEndId, outcome: 'SETTLED' });
  expect((await list(breb, 'orders', { since })).results).toMatchObject([{ endToEndId: ended.endToEndId }]);
});

test('a long list has pages without gaps or repeats', async () => {
  const simulator = await startOrderSimulator();
  const breb = await brebClient(simulator);
  const ids: string[] = [];
  for (const count of [500, 500, 3]) {
    const orders = Array.from({ length: count }, () => order('@TESTOK'));
    ids.push(...orders.map(({ endToEndId }) => endToEndId));
    await send(breb, ...orders);
  }
  const listed: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await list(breb, 'orders', { since: EVER, cursor });
    expect(page.results.length).toBeLessThanOrEqual(500);
    listed.push(...page.results.map(({ endToEndId }) => endToEndId));
    cursor = page.next;
  } while (cursor !== null);
  expect(listed).toEqual(ids);
});

test('each rail lists its own payments', async () => {
  const simulator = await startOrderSimulator();
  const breb = await brebClient(simulator);
  const key = freshKey();
  await breb('keys/register', { keys: [registration(key)] });
  await call(simulator, 'POST', '/control/keys/pay', { body: { payments: [{ key }] } });
  await pseCall(simulator, 'transactions', pseOrder('PSE1'));
  const end = { reference: 'PSE1', state: 'OK' };
  expect((await call(simulator, 'POST', '/control/transactions/end', { body: end })).status).toBe(200);
  expect((await list(breb, 'payments', { since: EVER })).results).toMatchObject([
    { reference: key, amount: '49800.00' },
  ]);
  expect((await pseCall(simulator, 'payments/list', { since: EVER })).body).toMatchObject({
    results: [{ reference: 'PSE1', amount: '49800.00' }],
    next: null,
  });
});

test('a list needs credentials and a valid time', async () => {
  const simulator = await startOrderSimulator();
  expect((await call(simulator, 'POST', '/breb/v1/orders/list', { body: { since: EVER } })).status).toBe(401);
  const breb = await brebClient(simulator);
  expect((await breb('orders/list', { since: 'yesterday' })).status).toBe(400);
  expect((await breb('orders/list', { since: EVER, cursor: 'x' })).status).toBe(400);
});
