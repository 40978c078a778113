import { afterAll, expect, test } from 'vitest';
import { cleanUp, eventually } from './harness.ts';
import {
  endOrder,
  getExecutions,
  getOrder,
  getResolutionId,
  listKey,
  order,
  send,
  startOrderSimulator,
  untilEnded,
  untilOver,
} from './order-driver.ts';
import { journal } from './payer.ts';
import { type BrebClient, brebClient, call } from './wire-client.ts';

afterAll(cleanUp);

const LUIS = { type: 'N', documentType: 'CC', documentNumber: '5040302010', names: 'LUIS ROJAS' };

test('a restart after SIGKILL keeps orders, outcomes, contradictions, executions and counts', async () => {
  const first = await startOrderSimulator();
  const breb = await brebClient(first);
  const [settled, rejected, reversed, insisted, stuck, invalid] = [
    order('@TESTOK'),
    order('@TESTDECLINED'),
    order('@TESTTIMEOUT'),
    order('@TESTTIMEOUT'),
    order('@TESTTIMEOUT'),
    order('no key'),
  ];
  const all = [settled, rejected, reversed, insisted, stuck, invalid];
  await send(breb, ...all, settled);
  await untilEnded(first, settled.endToEndId);
  await untilOver(first, rejected.endToEndId);
  const ends = [
    { endToEndId: reversed.endToEndId, outcome: 'REJECTED' },
    { endToEndId: reversed.endToEndId, outcome: 'SETTLED', anyway: true },
    { endToEndId: insisted.endToEndId, outcome: 'SETTLED' },
    { endToEndId: insisted.endToEndId, outcome: 'REJECTED', anyway: true },
  ];
  for (const end of ends) expect((await endOrder(first, end)).status).toBe(200);
  // An order that is not due yet.
  await send(breb, order('@TESTOK'));
  const paths = [
    ...all.map(({ endToEndId }) => `/control/orders/${endToEndId}`),
    '/control/executions',
    '/control/stats',
  ];
  const readViews = async (at: { url: string }) =>
    Promise.all(paths.map(async (path) => (await call(at, 'GET', path)).body as object));
  const before = await readViews(first);
  expect(before.at(-1)).toMatchObject({
    orders: { received: 8, duplicates: 1, settled: 3, rejected: 2, processing: 2 },
    executions: { count: 3 },
  });
  await first.end('SIGKILL');

  const second = await startOrderSimulator([], first.dataDir);
  const after = await readViews(second);
  const withoutJournal = (views: object[]) => views.map((view) => ({ ...view, journal: null }));
  expect(withoutJournal(after)).toEqual(withoutJournal(before));
});

test('after a restart a known end-to-end id is a DUPLICATE and a scheduled order ends once', async () => {
  const first = await startOrderSimulator();
  const [waiting, ended] = [order('@TESTOK'), order('@TESTOK')];
  const ids = [waiting.endToEndId, ended.endToEndId];
  const breb = await brebClient(first);
  await send(breb, ended);
  await untilEnded(first, ended.endToEndId);
  await send(breb, waiting);
  await first.end('SIGKILL');

  const second = await startOrderSimulator([], first.dataDir);
  const again = await brebClient(second);
  expect(await getOrder(second, waiting.endToEndId)).toMatchObject({ status: 'PROCESSING' });
  expect(await send(again, waiting, ended)).toMatchObject([{ status: 'DUPLICATE' }, { status: 'DUPLICATE' }]);
  expect(await untilEnded(second, waiting.endToEndId)).toMatchObject({ status: 'SETTLED' });
  expect(await getExecutions(second, ...ids)).toHaveLength(2);
  expect(await journal(second, 'breb.executed')).toHaveLength(2);
});

test('a restart keeps resolutions and directory changes', async () => {
  const first = await startOrderSimulator();
  const breb = await brebClient(first);
  for (const key of ['@STEADY', '@FICKLE', '@LEFT', '@ASLEEP']) await listKey(first, { key });
  const keys = ['@STEADY', '@FICKLE', '@LEFT', '@ASLEEP', '@TESTOK'];
  const orders = await Promise.all(
    keys.map(async (key) => order(key, { resolutionId: await getResolutionId(breb, key) })),
  );
  await send(breb, ...orders);
  await listKey(first, { key: '@FICKLE', holder: { person: LUIS } });
  await listKey(first, { key: '@LEFT', holder: null });
  await listKey(first, { key: '@ASLEEP', status: 'SUSPENDED_BY_PARTICIPANT' });
  await first.end('SIGKILL');

  const second = await startOrderSimulator([], first.dataDir);
  const ends = [];
  for (const { endToEndId } of orders) ends.push(await untilEnded(second, endToEndId));
  expect(ends.map(({ status, code }) => [status, code])).toEqual([
    ['SETTLED', null],
    ['REJECTED', '4008'],
    ['REJECTED', '0004'],
    ['REJECTED', '0006'],
    ['SETTLED', null],
  ]);
});

test('after SIGKILL under load, every answered order is stored and executed once', async () => {
  const first = await startOrderSimulator();
  const breb = await brebClient(first);
  const [sent, answered]: [string[], string[]] = [[], []];
  const sendUntilBroken = async (): Promise<never> => {
    for (;;) {
      const orders = Array.from({ length: 20 }, () => order('@TESTOK'));
      const ids = orders.map(({ endToEndId }) => endToEndId);
      sent.push(...ids);
      await send(breb, ...orders);
      answered.push(...ids);
    }
  };
  const broken = Promise.allSettled(Array.from({ length: 4 }, sendUntilBroken));
  await eventually(
    () => answered.length > 500,
    () => 'more than 500 orders were answered',
    20_000,
  );
  await first.end('SIGKILL');
  await broken;

  const second = await startOrderSimulator([], first.dataDir);
  const statuses = await queryStatuses(await brebClient(second), answered);
  expect(statuses).toEqual(new Set(['PROCESSING']));
  await untilEnded(second, answered.at(-1) ?? '');
  await eventually(
    async () => !(await queryStatuses(await brebClient(second), answered)).has('PROCESSING'),
    () => 'all answered orders have ended',
  );
  const executed = (await getExecutions(second, ...sent)).map(({ endToEndId }) => endToEndId);
  expect(new Set(executed).size).toBe(executed.length);
  expect(executed).toEqual(expect.arrayContaining(answered));
});

async function queryStatuses(breb: BrebClient, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (let from = 0; from < ids.length; from += 500) {
    const { body } = await breb('orders/query', { endToEndIds: ids.slice(from, from + 500) });
    for (const { status } of (body as { results: { status: string }[] }).results) found.add(status);
  }
  return found;
}
