import { PgBoss, type SendOptions } from 'pg-boss';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { JOBS_SCHEMA } from '../../src/jobs/schedule-schema.ts';
import { readMetric } from '../harness/read-metric.ts';
import { runToEnd } from '../harness/run-server.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let simulator: SimulatorControl;
const workers: (Child & { readonly opsUrl: string })[] = [];
beforeAll(async () => {
  stack = await startStack({ workers: 0 });
  // Only what the tests request runs: a run by the clock would change what they expect.
  await stack.database.query('delete from caudal_jobs.schedule');
  simulator = new SimulatorControl(stack.simulatorUrl);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await stack?.stop();
});

async function newWorker(): Promise<Child & { readonly opsUrl: string }> {
  const child = await startServer('worker', stack.settings);
  const worker = { ...child, opsUrl: `http://127.0.0.1:${String(child.ready['opsPort'])}` };
  workers.push(worker);
  return worker;
}

const countBanks = async () => {
  const [row] = await stack.database.query<{ count: number }>('select count(*)::int from caudal.pse_banks');
  return row?.count ?? 0;
};

const waitForRuns = (name: string) =>
  until(`the runs of ${name} are completed`, async () => {
    const runs = await stack.database.query<{ state: string }>(
      'select state::text from caudal_jobs.job where name = $1',
      [name],
    );
    return runs.length > 0 && runs.every(({ state }) => state === 'completed');
  });

describe('an inconsistent ledger', () => {
  const tamper = (by: number) =>
    stack.database.query(
      "update caudal.ledger_balances set balance_in_cents = balance_in_cents + $1 where account = 'available' and organization_id = $2",
      [by, stack.organization.organizationId],
    );
  const verify = () => runToEnd(['schedules', 'run', 'ledger-verify'], stack.settings);

  const readInconsistentRows = (worker: { readonly opsUrl: string }) =>
    readMetric(worker, 'caudal_ledger_verification_inconsistencies');

  it('fails the check run, and every worker reports it, also one that started later', async () => {
    const worker = await newWorker();
    await expect(readInconsistentRows(worker)).rejects.toThrow('no metric');
    expect(await readMetric(worker, 'caudal_ledger_verification_timestamp_seconds')).toBe(0);
    expect((await verify()).code).toBe(0);
    await until('the result is reported', async () => (await readInconsistentRows(worker)) === 0);
    await tamper(1);
    const { code, stderr } = await verify();
    expect([code, stderr]).toEqual([1, expect.stringContaining('the ledger is inconsistent')]);
    await until('the worker reports it', async () => (await readInconsistentRows(worker)) > 0);
    expect(await readInconsistentRows(await newWorker())).toBeGreaterThan(0);
    expect(await readMetric(worker, 'caudal_ledger_verification_timestamp_seconds')).toBeGreaterThan(1.7e9);
    // As many retries as it takes until the row is corrected below.
    await requestRun('ledger-verify', { retryLimit: 20 });
    await until('a worker has run the check', async () => {
      const failures = await Promise.all(
        workers.map((each) => readMetric(each, 'caudal_schedule_failures_total')),
      );
      return failures.some((count) => count > 0);
    });
    await tamper(-1);
    expect((await verify()).code).toBe(0);
    // The metric does not show that the retry is over: the command has set it to zero.
    await waitForRuns('ledger-verify');
    expect(await readInconsistentRows(worker)).toBe(0);
  });

  it('is kept by `ledger verify` too, and doctor reports it', async () => {
    const ledgerVerify = () => runToEnd(['ledger', 'verify'], stack.settings);
    await tamper(1);
    expect((await ledgerVerify()).code).toBe(1);
    const { stdout } = await runToEnd(['doctor', '--json'], stack.settings);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
    expect(checks.find(({ name }) => name === 'ledger')).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/\(by command\) found \d+ inconsistent rows?$/) as string,
    });
    await tamper(-1);
    expect((await ledgerVerify()).code).toBe(0);
    await stack.database.query(
      "update caudal.ledger_status set verified_at = verified_at - interval '50 hours'",
    );
    const later = await runToEnd(['doctor', '--json'], stack.settings);
    expect((JSON.parse(later.stdout) as { checks: object[] }).checks).toContainEqual(
      expect.objectContaining({ name: 'ledger', status: 'warn', message: 'last verified 2 days ago' }),
    );
  });

  it('has its suspense balance in the metrics of every worker', async () => {
    const worker = await newWorker();
    const readSuspense = () => readMetric(worker, 'caudal_suspense_balance_pesos');
    const run = await runToEnd(['schedules', 'run', 'settlement', '--by', 'ana'], stack.settings);
    expect(run.code).toBe(0);
    await until('the balance is reported', async () => (await readSuspense()) === 0);
    await stack.database.query('update caudal.ledger_status set suspense_in_cents = -12345');
    await until('the balance is read again', async () => (await readSuspense()) === -123.45);
  });
});

/** Requests a run as the scheduler does. */
async function requestRun(name: string, options: SendOptions): Promise<void> {
  const boss = new PgBoss({
    connectionString: stack.database.url,
    schema: JOBS_SCHEMA,
    migrate: false,
    schedule: false,
    supervise: false,
    max: 1,
  });
  await boss.start();
  await boss.send(name, null, options);
  await boss.stop({ graceful: false });
}

describe('the schedules commands', () => {
  it("run a schedule immediately, in the operator's process", async () => {
    await stack.database.query('delete from caudal.pse_banks');
    const { code, stdout } = await runToEnd(['schedules', 'run', 'bank-list', '--json'], stack.settings);
    expect([code, JSON.parse(stdout)]).toEqual([0, { schedule: 'bank-list', done: true }]);
    expect(await countBanks()).toBeGreaterThan(40);
  });

  it('report a failed run', async () => {
    await simulator.addFault({ rail: 'PSE', operation: 'banks', fault: 'down' });
    const { code, stderr } = await runToEnd(['schedules', 'run', 'bank-list'], stack.settings);
    await simulator.clearFaults();
    expect(code).toBe(1);
    expect(stderr).toContain('PSE gave no bank list');
  });

  it('reject an unknown name', async () => {
    for (const args of [
      ['schedules', 'run', 'banks'],
      ['schedules', 'run'],
    ]) {
      const { code, stderr } = await runToEnd(args, stack.settings);
      expect(code).toBe(2);
      expect(stderr).toContain('see schedules list');
    }
  });

  it('list schedules with their times and last success', async () => {
    // The first worker found no banks when it started.
    await waitForRuns('bank-list');
    const [row] = await stack.database.query<{ at: Date }>(
      "select max(completed_on) as at from caudal_jobs.job where name = 'bank-list'",
    );
    const { code, stdout } = await runToEnd(['schedules', 'list', '--json'], stack.settings);
    expect(code).toBe(0);
    const list = JSON.parse(stdout) as { name: string; cron: string; lastSuccess: string | null }[];
    expect(list.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['settlement', 'bank-list', 'housekeeping']),
    );
    const banks = list.find(({ name }) => name === 'bank-list');
    expect(banks?.cron).toBe('10 3 * * *');
    // Both are rounded to milliseconds.
    expect(Math.abs(Date.parse(banks?.lastSuccess ?? '') - (row?.at.getTime() ?? 0))).toBeLessThanOrEqual(1);
    const text = await runToEnd(['schedules', 'list'], stack.settings);
    expect(text.stdout).toMatch(/settlement +\* \* \* \* \*/);
  });
});
