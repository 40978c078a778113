import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const MINUTE = 60_000;

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund(10_000_000);
});
afterAll(() => stack?.stop());

async function booksAgree(): Promise<void> {
  expect(await driver.brokenBooks()).toEqual([]);
  const [booked] = await driver.query(
    "select count(*)::int as count, sum(amount_in_cents)::text as cents from caudal.ledger_transfers where cause_kind = 'payout'",
  );
  expect(booked).toEqual((await driver.simulator.stats()).executions);
}

it('the rail is away for an hour: 300 payouts are all CONFIRMED once it is back, each executed once', async () => {
  const lookupId = await driver.lookUp('@TESTOK');
  const under = await driver.createMany(50, { lookupId });
  await until('they are at the rail', async () => (await driver.simulator.stats()).orders.received === 50);
  // Those settle, and nobody tells us nor answers.
  for (const operation of ['*', 'notice'])
    await driver.simulator.addFault({ rail: 'BRE_B', operation, fault: 'down' });
  const during = await driver.createMany(250, { lookupId });
  for (let minutes = 0; minutes < 60; minutes += 10) {
    const before = (await driver.simulator.stats()).faulted.BRE_B['order-query'] ?? 0;
    await stack.shiftTime(10 * MINUTE);
    await until(
      'the rail was asked in vain',
      async () => ((await driver.simulator.stats()).faulted.BRE_B['order-query'] ?? 0) > before,
    );
  }
  const states = await driver.query(
    'select distinct status from caudal.payouts where id = any ($1::uuid[])',
    [during.map(({ id }) => id)],
  );
  expect(states, 'unknown is not no').toEqual([{ status: 'PROCESSING' }]);

  await driver.simulator.clearFaults();
  await until(
    'all is CONFIRMED',
    async () => {
      // What was asked in vain is asked again up to five minutes later, and what was never there is sent then.
      await stack.shiftTime(MINUTE);
      const [row] = await driver.query<{ open: number }>(
        "select count(*)::int as open from caudal.payouts where status = 'PROCESSING'",
      );
      return row?.open === 0;
    },
    60_000,
  );
  await driver.allReach([...under, ...during], 'CONFIRMED');
  await driver.quiet();
  const executed = (await driver.simulator.executions()).map(({ endToEndId }) => endToEndId).sort();
  expect(executed).toEqual([...under, ...during].map(({ endToEndId }) => endToEndId).sort());
  await booksAgree();
}, 180_000);

it('the rail dies as by kill -9 in the middle of 100 payouts and comes back with its books: each executed once', async () => {
  const executedBefore = (await driver.simulator.stats()).executions.count;
  const port = Number(new URL(stack.simulatorUrl).port);
  const creating = driver.createMany(100);
  await until('some are at the rail', async () => (await driver.simulator.stats()).orders.received > 300);
  stack.simulator.kill('SIGKILL');
  await stack.simulator.exited;
  const made = await creating;
  const again = await startSimulator(stack.simulatorData, port);
  try {
    await until(
      'all is CONFIRMED',
      async () => {
        await stack.shiftTime(MINUTE);
        const [row] = await driver.query<{ open: number }>(
          "select count(*)::int as open from caudal.payouts where status = 'PROCESSING'",
        );
        return row?.open === 0;
      },
      60_000,
    );
    await driver.allReach(made, 'CONFIRMED');
    await driver.quiet();
    expect((await driver.simulator.stats()).executions.count).toBe(executedBefore + 100);
    for (const each of made.slice(0, 5)) expect(await driver.executions(each)).toBe(1);
    await booksAgree();
  } finally {
    await again.stop();
  }
}, 120_000);
