import { PgBoss } from 'pg-boss';
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
const workers: Child[] = [];
beforeAll(async () => {
  stack = await startStack({ workers: 0 });
  simulator = new SimulatorControl(stack.simulatorUrl);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await stack?.stop();
});

async function newWorker(): Promise<Child & { readonly opsUrl: string }> {
  const worker = await startServer('worker', stack.settings);
  workers.push(worker);
  return { ...worker, opsUrl: `http://127.0.0.1:${String(worker.ready['opsPort'])}` };
}

const banksKept = async () => {
  const [row] = await stack.database.query<{ count: number }>('select count(*)::int from caudal.pse_banks');
  return row?.count ?? 0;
};

const bankRuns = () =>
  stack.database.query<{ state: string; retry_count: number }>(
    "select state::text, retry_count from caudal_jobs.job where name = 'bank-list'",
  );

describe('a worker that starts where the banks were never asked for', () => {
  it('asks at once, and when it is killed meanwhile another takes its run over within half a minute', async () => {
    const fault = await simulator.addFault({ rail: 'PSE', operation: 'banks', fault: 'hang' });
    const killed = await newWorker();
    await until('PSE was asked', async () => (await simulator.struck(fault)) > 0, 15_000);
    killed.kill('SIGKILL');
    await killed.exited;
    await simulator.clearFaults();
    expect(await banksKept()).toBe(0);

    await newWorker();
    expect(await until('the banks are known', banksKeptOrNot, 30_000)).toBeGreaterThan(40);
    await until('the run is done', async () =>
      (await bankRuns()).every(({ state }) => state === 'completed'),
    );
    // The same run under a new worker, not a run of its own.
    expect((await bankRuns()).map(({ retry_count }) => retry_count)).toEqual([1]);
  }, 60_000);
});

const banksKeptOrNot = async () => (await banksKept()) || false;

describe('books that do not add up', () => {
  const tamper = (by: number) =>
    stack.database.query(
      "update caudal.ledger_balances set balance_in_cents = balance_in_cents + $1 where account = 'available' and organization_id = $2",
      [by, stack.organization.organizationId],
    );
  const verify = () => runToEnd(['schedules', 'run', 'ledger-verify'], stack.settings);

  it('make the check a run that failed, and a metric of the worker that made it', async () => {
    expect((await verify()).code).toBe(0);
    const worker = await newWorker();
    await expect(readMetric(worker, 'caudal_ledger_inconsistent_rows')).rejects.toThrow('no metric');
    await tamper(1);
    const { code, stderr } = await verify();
    expect([code, stderr]).toEqual([1, expect.stringContaining('the ledger is not whole')]);
    for (const other of workers.slice(0, -1)) {
      other.kill('SIGKILL');
      await other.exited;
    }
    await askFor('ledger-verify');
    const faults = () => readMetric(worker, 'caudal_ledger_inconsistent_rows');
    expect(await until('the books were checked', faults, 15_000)).toBeGreaterThan(0);
    expect(await readMetric(worker, 'caudal_schedule_failures_total')).toBeGreaterThan(0);
    await tamper(-1);
    expect((await verify()).code).toBe(0);
    await until('the retry found them whole', async () => (await faults()) === 0, 15_000);
  }, 60_000);
});

/** Asks for a run as the clock would. */
async function askFor(name: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: stack.database.url,
    schema: JOBS_SCHEMA,
    migrate: false,
    schedule: false,
    supervise: false,
    max: 1,
  });
  await boss.start();
  await boss.send(name);
  await boss.stop({ graceful: false });
}

describe('the schedules by hand', () => {
  it('run one at once, in the process of the operator', async () => {
    await stack.database.query('delete from caudal.pse_banks');
    const { code, stdout } = await runToEnd(['schedules', 'run', 'bank-list', '--json'], stack.settings);
    expect([code, JSON.parse(stdout)]).toEqual([0, { schedule: 'bank-list', done: true }]);
    expect(await banksKept()).toBeGreaterThan(40);
  });

  it('say so when the run fails', async () => {
    await simulator.addFault({ rail: 'PSE', operation: 'banks', fault: 'down' });
    const { code, stderr } = await runToEnd(['schedules', 'run', 'bank-list'], stack.settings);
    await simulator.clearFaults();
    expect(code).toBe(1);
    expect(stderr).toContain('PSE gave no bank list');
  });

  it('refuse a name that is none of theirs', async () => {
    for (const args of [
      ['schedules', 'run', 'banks'],
      ['schedules', 'run'],
    ]) {
      const { code, stderr } = await runToEnd(args, stack.settings);
      expect(code).toBe(2);
      expect(stderr).toContain('schedules list shows them');
    }
  });

  it('are listed with their times and when they were last done', async () => {
    const { code, stdout } = await runToEnd(['schedules', 'list', '--json'], stack.settings);
    expect(code).toBe(0);
    const list = JSON.parse(stdout) as { name: string; cron: string; lastSuccess: string | null }[];
    expect(list.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['settlement', 'bank-list', 'housekeeping']),
    );
    const banks = list.find(({ name }) => name === 'bank-list');
    expect(banks?.cron).toBe('10 3 * * *');
    expect(Date.now() - Date.parse(banks?.lastSuccess ?? '')).toBeLessThan(120_000);
    const text = await runToEnd(['schedules', 'list'], stack.settings);
    expect(text.stdout).toMatch(/settlement +\* \* \* \* \*/);
  });
});
