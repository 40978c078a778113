import { afterAll, expect, test } from 'vitest';
import { cleanUp, eventually, startSimulator } from './harness.ts';
import { endReceivers, startReceiver } from './notice-receiver.ts';
import { getExecutions, order, send, startOrderSimulator, untilEnded } from './order-driver.ts';
import { pay, stats, untilDrained } from './payer.ts';
import { type BrebClient, brebClient, freshKey, registration } from './wire-client.ts';

afterAll(async () => {
  await cleanUp();
  endReceivers();
});

test('after SIGKILL under load, every answered registration is stored', async () => {
  const first = await startSimulator();
  const breb = await brebClient(first);
  const answered: string[] = [];
  const sendUntilBroken = async (): Promise<never> => {
    for (;;) {
      const items = Array.from({ length: 20 }, () => registration(freshKey()));
      await breb('keys/register', { keys: items });
      answered.push(...items.map(({ key }) => key));
    }
  };
  const broken = Promise.allSettled(Array.from({ length: 8 }, sendUntilBroken));
  await eventually(
    () => answered.length > 2000,
    () => 'more than 2,000 registrations were answered',
  );
  await first.end('SIGKILL');
  await broken;

  const second = await startSimulator({ dataDir: first.dataDir });
  const client = await brebClient(second);
  for (let from = 0; from < answered.length; from += 500) {
    const { body } = await client('keys/query', { keys: answered.slice(from, from + 500) });
    expect(new Set((body as { results: { status: string }[] }).results.map(({ status }) => status))).toEqual(
      new Set(['REGISTERED']),
    );
  }
});

test('after SIGKILL under load, every answered payment is notified at least once', async () => {
  const receiver = await startReceiver();
  const first = await startSimulator({ args: ['--notices', receiver.url] });
  const items = Array.from({ length: 500 }, () => registration(freshKey()));
  await (await brebClient(first))('keys/register', { keys: items });
  const answered: string[] = [];
  const payAll = async (): Promise<void> => {
    for (;;) {
      const paid = await pay(first, ...items.slice(0, 50).map(({ key }) => ({ key })));
      answered.push(...paid.map(({ executionId }) => executionId));
    }
  };
  const broken = Promise.allSettled([payAll(), payAll(), payAll()]);
  await eventually(
    () => answered.length > 1000,
    () => 'a thousand payments were answered',
  );
  await first.end('SIGKILL');
  const second = await startSimulator({ dataDir: first.dataDir, args: ['--notices', receiver.url] });
  await broken;
  await untilDrained(second);
  const notified = new Set(receiver.accepted.map(({ executionId }) => executionId));
  expect(answered.filter((executionId) => !notified.has(executionId))).toEqual([]);
  const { payments, notices } = await stats(second);
  expect(notices.queued).toBe(payments.count);
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
