import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { contradictions } from '../harness/consistency.ts';
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

const everyone = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

describe('both rails are away for an hour: no calls answered, no notices sent', () => {
  it('then everything drains, late notices in a flood, and the books are whole', async () => {
    const breb = await everyone(60, () => driver.breb());
    const pse = await everyone(12, () => driver.pse());
    for (const rail of ['BRE_B', 'PSE'] as const) {
      await driver.simulator.addFault({ rail, operation: '*', fault: 'down' });
      await driver.simulator.addFault({ rail, operation: 'notice', fault: 'down' });
    }
    // Payers go on: half of them pay, some twice, and nobody tells us.
    await driver.simulator.pay(...breb.slice(0, 30).map(({ key }) => ({ key })));
    await driver.simulator.pay(...breb.slice(0, 5).map(({ key }) => ({ key, amount: '1.00' })));
    for (const { reference } of pse.slice(0, 6))
      await driver.simulator.endTransaction({ reference, state: 'OK' });
    for (let minutes = 0; minutes < 65; minutes += 13) {
      await stack.shiftTime(13 * MINUTE);
      await until('a round was tried', async () => (await struckSince()) > 0);
    }
    const open = [...breb, ...pse].map(({ payin }) => payin.id);
    for (const id of open) expect(['PENDING', 'PROCESSING']).toContain((await driver.get(id)).status);

    await driver.simulator.clearFaults();
    // What was tried in vain is put off by up to a minute, and PSE is asked again five minutes after.
    await stack.shiftTime(6 * MINUTE);
    for (const { payin } of breb.slice(0, 30)) await driver.reaches(payin.id, 'CONFIRMED', 30_000);
    for (const { payin } of breb.slice(30)) await driver.reaches(payin.id, 'CANCELED', 30_000);
    for (const { payin } of pse.slice(0, 6)) await driver.reaches(payin.id, 'CONFIRMED', 30_000);
    for (const { payin } of pse.slice(6)) await driver.reaches(payin.id, 'CANCELED', 30_000);
    await driver.quiet(30_000);
    expect(await stack.command('ledger', 'verify')).toContain('all sums to zero');
    expect(await contradictions(stack.database)).toEqual([]);
    const { payments } = await driver.simulator.stats();
    const [booked] = await driver.query<{ count: number; cents: string }>(
      "select count(*)::int as count, sum(amount_in_cents)::text as cents from caudal.ledger_transfers where cause_kind = 'payment'",
    );
    expect(booked).toEqual(payments);
    const [suspense] = await driver.query<{ count: number }>(
      "select count(*)::int as count from caudal.anomalies where kind = 'paid_again' and amount_in_cents = 100",
    );
    expect(suspense?.count).toBe(5);
  }, 120_000);

  let struck = 0;
  async function struckSince(): Promise<number> {
    const { faulted } = await driver.simulator.stats();
    const now = Object.values(faulted)
      .flatMap((of) => Object.values(of))
      .reduce((a, b) => a + b, 0);
    const since = now - struck;
    struck = now;
    return since;
  }
});

describe('a worker that is killed in the middle of asking', () => {
  let alone: Stack;
  let own: PayinDriver;
  beforeAll(async () => {
    alone = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
    own = new PayinDriver(alone);
  });
  afterAll(async () => {
    await alone?.stop();
  });

  it('has its work taken over by another one within 30 seconds', async () => {
    const { payin, key } = await own.breb();
    await own.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    await own.simulator.pay({ key });
    const hang = await own.simulator.addFault({ rail: 'BRE_B', operation: 'query', fault: 'hang', times: 1 });
    await alone.shiftTime(31_000);
    await until('the worker hangs on its question', async () => (await own.simulator.struck(hang)) === 1);
    const [worker] = alone.workers;
    worker?.kill('SIGKILL');
    await worker?.exited;
    const killedAt = performance.now();
    const held = await own.query('select from caudal.payins where id = $1 and lease_token is not null', [
      payin.id,
    ]);
    expect(held, 'the dead one holds the claim').toHaveLength(1);
    const other = await startServer('worker', alone.settings);
    await own.reaches(payin.id, 'CONFIRMED', 30_000);
    expect(performance.now() - killedAt).toBeLessThan(30_000);
    await other.stop();
  }, 60_000);
});
