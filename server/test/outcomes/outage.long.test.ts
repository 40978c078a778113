import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { payinInvariantViolations } from '../harness/consistency.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const MINUTE = 60_000;

let stack: Stack;
let driver: PayinDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayinDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

const createMany = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

describe('an outage of both rails for an hour, without calls or notifications', () => {
  it('is followed by full recovery: late notifications are applied and the ledger is consistent', async () => {
    const breb = await createMany(60, () => driver.breb());
    const pse = await createMany(12, () => driver.pse());
    for (const rail of ['BRE_B', 'PSE'] as const) {
      await driver.simulator.addFault({ rail, operation: '*', fault: 'down' });
      await driver.simulator.addFault({ rail, operation: 'notice', fault: 'down' });
    }
    // Payers continue: half of them pay, some twice, and no notification is sent.
    await driver.simulator.pay(...breb.slice(0, 30).map(({ key }) => ({ key })));
    await driver.simulator.pay(...breb.slice(0, 5).map(({ key }) => ({ key, amount: '1.00' })));
    for (const { reference } of pse.slice(0, 6))
      await driver.simulator.endTransaction({ reference, state: 'OK' });
    for (let minutes = 0; minutes < 65; minutes += 13) {
      await stack.shiftTime(13 * MINUTE);
      await until('a round of polls was attempted', async () => (await newFaultedCalls()) > 0);
    }
    const open = [...breb, ...pse].map(({ payin }) => payin.id);
    for (const id of open) expect(['PENDING', 'PROCESSING']).toContain((await driver.get(id)).status);

    await driver.simulator.clearFaults();
    // Failed polls are postponed by up to a minute, and PSE is polled again five minutes later.
    await stack.shiftTime(6 * MINUTE);
    for (const { payin } of breb.slice(0, 30)) await driver.waitForStatus(payin.id, 'CONFIRMED');
    for (const { payin } of breb.slice(30)) await driver.waitForStatus(payin.id, 'CANCELED');
    for (const { payin } of pse.slice(0, 6)) await driver.waitForStatus(payin.id, 'CONFIRMED');
    for (const { payin } of pse.slice(6)) await driver.waitForStatus(payin.id, 'CANCELED');
    await driver.waitUntilIdle();
    expect(await stack.command('ledger', 'verify')).toContain('sum of all accounts is zero');
    expect(await payinInvariantViolations(stack.database)).toEqual([]);
    const { payments } = await driver.simulator.stats();
    const [posted] = await driver.query<{ count: number; cents: string }>(
      "select count(*)::int as count, sum(amount_in_cents)::text as cents from caudal.ledger_transfers where cause_kind = 'payment'",
    );
    expect(posted).toEqual(payments);
    const [suspense] = await driver.query<{ count: number }>(
      "select count(*)::int as count from caudal.anomalies where kind = 'paid_again' and amount_in_cents = 100",
    );
    expect(suspense?.count).toBe(5);
  });

  let lastFaultedCalls = 0;
  async function newFaultedCalls(): Promise<number> {
    const { faulted } = await driver.simulator.stats();
    const now = Object.values(faulted)
      .flatMap((of) => Object.values(of))
      .reduce((a, b) => a + b, 0);
    const since = now - lastFaultedCalls;
    lastFaultedCalls = now;
    return since;
  }
});

describe('a worker killed during a status poll', () => {
  let singleWorkerStack: Stack;
  let singleWorkerDriver: PayinDriver;
  beforeAll(async () => {
    singleWorkerStack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
    singleWorkerDriver = new PayinDriver(singleWorkerStack);
  });
  afterAll(async () => {
    await singleWorkerStack?.stop();
  });

  it('has its work taken over by another worker within 30 seconds', async () => {
    const { payin, key } = await singleWorkerDriver.breb();
    await singleWorkerDriver.simulator.addFault({
      rail: 'BRE_B',
      operation: 'notice',
      fault: 'lost-notice',
      times: 1,
    });
    await singleWorkerDriver.simulator.pay({ key });
    const hang = await singleWorkerDriver.simulator.addFault({
      rail: 'BRE_B',
      operation: 'query',
      fault: 'hang',
      times: 1,
    });
    await singleWorkerStack.shiftTime(31_000);
    await until(
      'the worker hangs on its poll',
      async () => (await singleWorkerDriver.simulator.timesApplied(hang)) === 1,
    );
    const [worker] = singleWorkerStack.workers;
    worker?.kill('SIGKILL');
    await worker?.exited;
    const sinceKilled = stopwatch();
    const held = await singleWorkerDriver.query(
      'select from caudal.payins where id = $1 and lease_token is not null',
      [payin.id],
    );
    expect(held, 'the dead worker holds the lease').toHaveLength(1);
    const other = await startServer('worker', singleWorkerStack.settings);
    await singleWorkerDriver.waitForStatus(payin.id, 'CONFIRMED');
    expectWithin('taking the poll over', sinceKilled(), 30_000);
    await other.stop();
  });
});
