import type { Cluster } from './cluster.ts';
import { type Outcome, say, tally } from './outcome.ts';
import { type PayoutRun, type PayoutRunOptions, startPayouts } from './payout-run.ts';
import { judge, keepJournals } from './verdict.ts';

/** Payouts under kills and faults: whatever dies, each is executed once or not at all, and everybody is told which. */
export async function runPayouts(
  cluster: Cluster,
  seed: number,
  count: number,
  options: PayoutRunOptions = {},
): Promise<Outcome> {
  const began = performance.now();
  say(`payouts: ${count}, seed ${seed}`);
  const outcome = tally();
  const run = await startPayouts(cluster, seed, count, options);
  try {
    await run.pay((done) => look(run, outcome, `after ${done} payouts`, 'going on', seed));
    await run.rest();
    await look(run, outcome, 'at rest', 'at rest', seed);
    for (const failure of await run.failures()) outcome.fail(failure);
    for (const line of await run.told()) say(`payouts: ${line}`);
  } finally {
    await run.end();
  }
  say(`payouts: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  return outcome.done();
}

async function look(
  run: PayoutRun,
  outcome: ReturnType<typeof tally>,
  when: string,
  state: 'going on' | 'at rest',
  seed: number,
): Promise<void> {
  const { whole, text } = await judge(run.stage, run.journal.path, state);
  say(`  ${when}: ${text}`);
  if (whole) outcome.pass();
  else {
    const kept = keepJournals(run.stage, run.journal.path, `payouts-${seed}`);
    outcome.fail(`${when} the checker found violations (seed ${seed}); journals: ${kept}`);
  }
}
