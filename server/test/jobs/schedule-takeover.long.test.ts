import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
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

async function newWorker(): Promise<Child> {
  const worker = await startServer('worker', stack.settings);
  workers.push(worker);
  return worker;
}

const countBanks = async () => {
  const [row] = await stack.database.query<{ count: number }>('select count(*)::int from caudal.pse_banks');
  return row?.count ?? 0;
};

const readBankRuns = () =>
  stack.database.query<{ state: string; retry_count: number }>(
    "select state::text, retry_count from caudal_jobs.job where name = 'bank-list'",
  );

describe('a worker that starts without a stored bank list', () => {
  it('queries PSE immediately, and when it is killed another worker takes over its run within half a minute', async () => {
    const fault = await simulator.addFault({ rail: 'PSE', operation: 'banks', fault: 'hang' });
    const killed = await newWorker();
    await until('PSE was queried', async () => (await simulator.timesApplied(fault)) > 0);
    killed.kill('SIGKILL');
    await killed.exited;
    await simulator.clearFaults();
    expect(await countBanks()).toBe(0);

    await newWorker();
    expect(await until('the banks are stored', async () => (await countBanks()) || false)).toBeGreaterThan(
      40,
    );
    await until('the run is completed', async () =>
      (await readBankRuns()).every(({ state }) => state === 'completed'),
    );
    // The same run under another worker, not a new run.
    expect((await readBankRuns()).map(({ retry_count }) => retry_count)).toEqual([1]);
  });
});
