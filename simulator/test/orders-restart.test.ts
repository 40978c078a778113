import { afterAll, expect, test } from 'vitest';
import { cleanUp } from './harness.ts';
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
import { brebClient, call } from './wire-client.ts';

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
