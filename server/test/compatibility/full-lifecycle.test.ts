import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

/** What must work on every supported version of PostgreSQL, with its settings as they come. */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
});
afterAll(() => stack?.stop());

describe('a deployment on this PostgreSQL', () => {
  it('becomes ready, stays ready and hears the database well within a second', async () => {
    for (const member of [...stack.apis, ...stack.workers]) {
      const { opsUrl } = member;
      await until('it is ready', async () => (await fetch(`${opsUrl}/readyz`)).status === 200);
      for (let look = 0; look < 10; look += 1) {
        expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
        expect(await readMetric(member, 'caudal_clock_age_seconds')).toBeLessThan(1);
      }
    }
  });

  it('collects a payin from its creation to its confirmation', async () => {
    const driver = new PayinDriver(stack);
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key });
    await driver.reaches(payin.id, 'CONFIRMED');
    expect((await driver.events(payin.id)).map(({ event }) => event)).toEqual(['payin.confirmed']);
  });

  it('sends a payout once', async () => {
    const driver = new PayoutDriver(stack);
    await driver.fund();
    const made = await driver.create();
    await driver.reaches(made.id, 'CONFIRMED');
    expect(await driver.executions(made)).toBe(1);
  });

  it('is migrated again without a change, and doctor finds nothing', async () => {
    expect(await stack.command('migrate')).not.toContain('migration applied');
    const { code, stdout } = await runOperatorCommand(stack.settings, 'doctor');
    expect(stdout).toContain('nothing has failed');
    expect(code).toBe(0);
  });
});
