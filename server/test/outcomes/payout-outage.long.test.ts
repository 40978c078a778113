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

async function expectLedgerMatchesRail(): Promise<void> {
  expect(await driver.ledgerInconsistencies()).toEqual([]);
  const [posted] = await driver.query(
    "select count(*)::int as count, sum(amount_in_cents)::text as cents from caudal.ledger_transfers where cause_kind = 'payout'",
  );
  expect(posted).toEqual((await driver.simulator.stats()).executions);
}

it('confirms 300 payouts after a rail outage of an hour, each executed once', async () => {
  const lookupId = await driver.lookUp('@TESTOK');
  const sentBefore = await driver.createMany(50, { lookupId });
  await until('they are at the rail', async () => (await driver.simulator.stats()).orders.received === 50);
  // These settle, but notifications and polls fail.
  for (const operation of ['*', 'notice'])
    await driver.simulator.addFault({ rail: 'BRE_B', operation, fault: 'down' });
  const createdDuring = await driver.createMany(250, { lookupId });
  for (let minutes = 0; minutes < 60; minutes += 10) {
    const before = (await driver.simulator.stats()).faulted.BRE_B['order-query'] ?? 0;
    await stack.shiftTime(10 * MINUTE);
    await until(
      'a poll failed',
      async () => ((await driver.simulator.stats()).faulted.BRE_B['order-query'] ?? 0) > before,
    );
  }
  const states = await driver.query(
    'select distinct status from caudal.payouts where id = any ($1::uuid[])',
    [createdDuring.map(({ id }) => id)],
  );
  expect(states, 'an unknown outcome is not a failure').toEqual([{ status: 'PROCESSING' }]);

  await driver.simulator.clearFaults();
  await until('all payouts are CONFIRMED', async () => {
    // A failed poll is repeated up to five minutes later; an order that never arrived is sent then.
    await stack.shiftTime(MINUTE);
    const [row] = await driver.query<{ open: number }>(
      "select count(*)::int as open from caudal.payouts where status = 'PROCESSING'",
    );
    return row?.open === 0;
  });
  await driver.waitForAll([...sentBefore, ...createdDuring], 'CONFIRMED');
  await driver.waitUntilIdle();
  const executed = (await driver.simulator.executions()).map(({ endToEndId }) => endToEndId).sort();
  expect(executed).toEqual([...sentBefore, ...createdDuring].map(({ endToEndId }) => endToEndId).sort());
  await expectLedgerMatchesRail();
});

it('executes each of 100 payouts once when the rail is killed in between and recovers from its journal', async () => {
  const executedBefore = (await driver.simulator.stats()).executions.count;
  const port = Number(new URL(stack.simulatorUrl).port);
  const creating = driver.createMany(100);
  await until('some are at the rail', async () => (await driver.simulator.stats()).orders.received > 300);
  stack.simulator.kill('SIGKILL');
  await stack.simulator.exited;
  const created = await creating;
  const restarted = await startSimulator(stack.simulatorData, port);
  try {
    await until('all payouts are CONFIRMED', async () => {
      await stack.shiftTime(MINUTE);
      const [row] = await driver.query<{ open: number }>(
        "select count(*)::int as open from caudal.payouts where status = 'PROCESSING'",
      );
      return row?.open === 0;
    });
    await driver.waitForAll(created, 'CONFIRMED');
    await driver.waitUntilIdle();
    expect((await driver.simulator.stats()).executions.count).toBe(executedBefore + 100);
    for (const each of created.slice(0, 5)) expect(await driver.executions(each)).toBe(1);
    await expectLedgerMatchesRail();
  } finally {
    await restarted.stop();
  }
});
