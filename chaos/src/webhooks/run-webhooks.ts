import { type Outcome, print, tally } from '../run/outcome.ts';
import { type CheckedState, keepJournals, runChecker } from '../run/run-checker.ts';
import type { Cluster } from '../stack/cluster.ts';
import { startWebhooks, type WebhookRun, type WebhookRunOptions } from './webhook-run.ts';

/**
 * Runs lifecycles under kills and faults: every event must reach every subscribed endpoint, signed and unchanged, and every
 * screen that a payer sees must be true.
 */
export async function runWebhooks(
  cluster: Cluster,
  seed: number,
  count: number,
  options: WebhookRunOptions = {},
): Promise<Outcome> {
  const startedAt = performance.now();
  const name = options.onlyLinks ? 'links' : 'webhooks';
  print(`${name}: ${count} ${options.onlyLinks ? 'links' : 'payins, payouts and links'}, seed ${seed}`);
  const outcome = tally();
  const run = await startWebhooks(cluster, seed, count, options);
  try {
    await run.execute((done) => check(run, outcome, `after ${done}`, 'running', seed));
    await run.drain();
    await check(run, outcome, 'drained', 'drained', seed);
    for (const failure of run.failures()) outcome.fail(failure);
    for (const line of await run.summary()) print(`${name}: ${line}`);
  } finally {
    await run.end();
  }
  print(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return outcome.done();
}

async function check(
  { stack, journal, sinks }: WebhookRun,
  outcome: ReturnType<typeof tally>,
  when: string,
  state: CheckedState,
  seed: number,
): Promise<void> {
  const { ok, text } = await runChecker(stack, journal.path, state, sinks.journal);
  print(`  ${when}: ${text}`);
  if (ok) outcome.pass();
  else {
    const kept = keepJournals(stack, journal.path, `webhooks-${seed}`, sinks.journal);
    outcome.fail(`${when}: the checker found violations (seed ${seed}); journals: ${kept}`);
  }
}
