import type { Cluster } from './cluster.ts';
import { type Outcome, say, tally } from './outcome.ts';
import { judge, keepJournals } from './verdict.ts';
import { startWebhooks, type WebhookRun, type WebhookRunOptions } from './webhook-run.ts';

/** Events under kills and faults: whatever dies, each reaches every endpoint that wants it, signed and as it was recorded. */
export async function runWebhooks(
  cluster: Cluster,
  seed: number,
  count: number,
  options: WebhookRunOptions = {},
): Promise<Outcome> {
  const began = performance.now();
  say(`webhooks: of ${count} payins, payouts and links, seed ${seed}`);
  const outcome = tally();
  const run = await startWebhooks(cluster, seed, count, options);
  try {
    await run.live((done) => look(run, outcome, `after ${done}`, 'going on', seed));
    await run.rest();
    await look(run, outcome, 'at rest', 'at rest', seed);
    for (const failure of run.failures()) outcome.fail(failure);
    for (const line of await run.told()) say(`webhooks: ${line}`);
  } finally {
    await run.end();
  }
  say(`webhooks: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  return outcome.done();
}

async function look(
  { stage, journal, sinks }: WebhookRun,
  outcome: ReturnType<typeof tally>,
  when: string,
  state: 'going on' | 'at rest',
  seed: number,
): Promise<void> {
  const { whole, text } = await judge(stage, journal.path, state, sinks.journal);
  say(`  ${when}: ${text}`);
  if (whole) outcome.pass();
  else {
    const kept = keepJournals(stage, journal.path, `webhooks-${seed}`, sinks.journal);
    outcome.fail(`${when} the checker found violations (seed ${seed}); journals: ${kept}`);
  }
}
