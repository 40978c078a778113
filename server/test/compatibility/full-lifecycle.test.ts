import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWithin } from '../../../scripts/testing/expect-within.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** What must work on every supported PostgreSQL version with its default settings. */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
});
afterAll(() => stack?.stop());

describe('a deployment on this PostgreSQL', () => {
  it('becomes ready, stays ready and samples the database clock well within a second', async () => {
    for (const member of [...stack.apis, ...stack.workers]) {
      const { opsUrl } = member;
      await until('it is ready', async () => (await fetch(`${opsUrl}/readyz`)).status === 200);
      for (let check = 0; check < 10; check += 1) {
        expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
        const ageMs = 1000 * (await readMetric(member, 'caudal_clock_age_seconds'));
        expectWithin('the age of the newest clock sample', ageMs, 1000);
      }
    }
  });

  it('confirms a payin', async () => {
    const driver = new PayinDriver(stack);
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key });
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    expect((await driver.events(payin.id)).map(({ event }) => event)).toEqual(['payin.confirmed']);
  });

  it('sends a payout once', async () => {
    const driver = new PayoutDriver(stack);
    await driver.fund();
    const created = await driver.create();
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await driver.executions(created)).toBe(1);
  });

  it('is migrated again without a change, and doctor finds nothing', async () => {
    expect(await stack.command('migrate')).not.toContain('migration_applied');
    const { code, stdout } = await runOperatorCommand(stack.settings, 'doctor');
    expect(stdout).toContain('no check failed');
    expect(code).toBe(0);
  });
});
