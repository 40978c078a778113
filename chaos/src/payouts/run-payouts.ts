import { type Outcome, print, tally } from '../run/outcome.ts';
import { type CheckedState, keepJournals, runChecker } from '../run/run-checker.ts';
import type { Cluster } from '../stack/cluster.ts';
import { type PayoutRun, type PayoutRunOptions, startPayouts } from './payout-run.ts';

/** Runs payouts under kills and faults: each must execute at most once and report its true outcome. */
export async function runPayouts(
  cluster: Cluster,
  seed: number,
  count: number,
  options: PayoutRunOptions = {},
): Promise<Outcome> {
  const startedAt = performance.now();
  print(`payouts: ${count}, seed ${seed}`);
  const outcome = tally();
  const run = await startPayouts(cluster, seed, count, options);
  try {
    await run.pay((done) => check(run, outcome, `after ${done} payouts`, 'running', seed));
    await run.drain();
    await check(run, outcome, 'drained', 'drained', seed);
    for (const failure of await run.failures()) outcome.fail(failure);
    for (const line of await run.summary()) print(`payouts: ${line}`);
  } finally {
    await run.end();
  }
  print(`payouts: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return outcome.done();
}

async function check(
  run: PayoutRun,
  outcome: ReturnType<typeof tally>,
  when: string,
  state: CheckedState,
  seed: number,
): Promise<void> {
  const { ok, text } = await runChecker(run.stack, run.journal.path, state);
  print(`  ${when}: ${text}`);
  if (ok) outcome.pass();
  else {
    const kept = keepJournals(run.stack, run.journal.path, `payouts-${seed}`);
    outcome.fail(`${when}: the checker found violations (seed ${seed}); journals: ${kept}`);
  }
}
