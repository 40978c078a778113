import { type Outcome, print, tally } from '../../../chaos/src/run/outcome.ts';
import type { Cluster } from '../../../chaos/src/stack/cluster.ts';
import { checkAftermath } from './aftermath.ts';
import { describe, type Results } from './results.ts';
import { runRequests } from './run-requests.ts';
import { startStage } from './stage.ts';

export interface FuzzOptions {
  readonly from: number;
  readonly until: number;
  readonly minutes?: number;
}

/** One result per operation and kind of request, and one per check afterwards. */
export async function runFuzz(cluster: Cluster, seed: number, options: FuzzOptions): Promise<Outcome> {
  const { from, until, minutes } = options;
  print(`fuzz: requests ${from} to ${until}`);
  const stage = await startStage(cluster, seed);
  const counts = tally();
  try {
    const startedAt = performance.now();
    const stopAtMs = minutes === undefined ? {} : { stopAtMs: startedAt + minutes * 60_000 };
    const results = await runRequests(stage, { from, until, ...stopAtMs });
    printResults(results, (performance.now() - startedAt) / 1000);
    for (const { id } of stage.operations)
      if (until - from >= 5000 && !results.subjects.has(id)) counts.fail(`${id}: not requested`);
    for (const [subject, { violations }] of results.subjects)
      if (violations === 0) counts.pass();
      else counts.fail(`${subject}: ${violations} violations`);
    await checkAftermath(stage, counts);
  } finally {
    await stage.stop();
  }
  return counts.done();
}

function printResults(results: Results, seconds: number): void {
  const { requests, unanswered, slowestMs, slowByOverload, unavailable, rules } = results;
  print(
    `  ${requests.toLocaleString('en')} requests in ${seconds.toFixed(0)} s, ${Math.round(requests / seconds)}/s`,
  );
  print(`  by status: ${results.describeStatuses()}; without a response: ${unanswered}`);
  print(
    `  documented 503: ${describe(unavailable)}; slowest response ${Math.round(slowestMs)} ms, ${slowByOverload} late on an overloaded machine`,
  );
  print(`  violations: ${describe(rules)}`);
}
