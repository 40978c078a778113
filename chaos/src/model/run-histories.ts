import * as fc from 'fast-check';
import { recordFailure } from '../../../scripts/test-counts.ts';
import { type Outcome, print } from '../run/outcome.ts';
import type { Cluster } from '../stack/cluster.ts';
import { startStack } from '../stack/stack.ts';
import { anyHistory } from './generate-steps.ts';
import { InvariantViolation } from './invariant-violation.ts';
import { REGRESSION_HISTORIES, type RegressionHistory } from './regression-histories.ts';
import { REGRESSION_LINK_HISTORIES } from './regression-link-histories.ts';
import { REGRESSION_PAYOUT_HISTORIES } from './regression-payout-histories.ts';
import { runHistory } from './run-history.ts';
import { shorten } from './shorten.ts';
import type { Step } from './step.ts';
import { inWorld, type World } from './world.ts';

const ORGANIZATIONS = 8;
/** Time limit for shortening a failing history. */
const SHORTEN_FOR_MS = 60_000;
const PRINT_EVERY = 50;
const REGRESSIONS = [...REGRESSION_HISTORIES, ...REGRESSION_PAYOUT_HISTORIES, ...REGRESSION_LINK_HISTORIES];

/** Runs the regression histories, then `count` random ones until one fails. */
export async function runHistories(
  cluster: Cluster,
  seed: number,
  count: number,
  path?: string,
): Promise<Outcome> {
  const startedAt = performance.now();
  print(`histories: seed ${seed}, ${REGRESSIONS.length} regression and ${count} random`);
  const stack = await startStack(cluster);
  try {
    const organizations = Math.min(ORGANIZATIONS, Math.max(1, count));
    const [regressions, random] = await inWorld(stack, { organizations }, async (world) => [
      await runRegressions(world, REGRESSIONS),
      count === 0 ? { passed: 0, failed: 0 } : await runRandom(world, { seed, count, path }),
    ]);
    print(`histories: ${seconds(performance.now() - startedAt)} s`);
    return { passed: regressions.passed + random.passed, failed: regressions.failed + random.failed };
  } finally {
    await stack.stop();
  }
}

async function runRegressions(world: World, histories: readonly RegressionHistory[]): Promise<Outcome> {
  let failed = 0;
  for (const { name, steps } of histories) {
    try {
      await runHistory(world, steps);
    } catch (error) {
      failed += 1;
      recordFailure(`regression history "${name}"`, formatError(error));
      print(`  FAIL  regression history "${name}"\n  ${formatError(error)}`);
    }
  }
  return { passed: histories.length - failed, failed };
}

async function runRandom(
  world: World,
  { seed, count, path }: { seed: number; count: number; path: string | undefined },
): Promise<Outcome> {
  const counts = { histories: 0, steps: 0, payins: 0, payouts: 0, links: 0 };
  const startedAt = performance.now();
  const property = fc.asyncProperty(anyHistory, async (steps) => {
    const { steps: taken, payins, payouts, links } = await runHistory(world, steps);
    counts.histories += 1;
    counts.steps += taken;
    counts.payins += payins;
    counts.payouts += payouts;
    counts.links += links;
    if (counts.histories % PRINT_EVERY === 0) print(progress(counts, performance.now() - startedAt));
  });
  const details = await fc.check(property, {
    numRuns: count,
    seed,
    endOnFailure: true,
    ...(path === undefined ? {} : { path }),
  });
  print(progress(counts, performance.now() - startedAt));
  if (!details.failed) return { passed: counts.histories, failed: 0 };
  const [steps] = details.counterexample ?? [[]];
  print(
    `  FAIL  history of seed ${seed}, path ${details.counterexamplePath ?? ''}: ${formatError(details.errorInstance)}`,
  );
  print(formatSteps(steps));
  await printShortest(world, steps, details.errorInstance);
  return { passed: counts.histories, failed: 1 };
}

async function printShortest(world: World, steps: readonly Step[], error: unknown): Promise<void> {
  if (!(error instanceof InvariantViolation)) return;
  const shortest = await shorten(world, steps, error, SHORTEN_FOR_MS);
  print(`  shortest failing history found: ${shortest.violation.message}`);
  print(
    `  to keep it as a regression test (chaos/src/model/regression-histories.ts):\n${formatSteps(shortest.steps)}`,
  );
}

function progress(
  counts: { histories: number; steps: number; payins: number; payouts: number; links: number },
  ms: number,
): string {
  const each = counts.histories === 0 ? 0 : Math.round(ms / counts.histories);
  return `  ${counts.histories} histories, ${counts.steps} steps, ${counts.payins} payins, ${counts.payouts} payouts, ${counts.links} links in ${seconds(ms)} s (${each} ms each)`;
}

function formatSteps(steps: readonly Step[]): string {
  return steps.map((step) => `    ${JSON.stringify(step)},`).join('\n');
}

function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}

function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'InvariantViolation' ? error.message : (error.stack ?? error.message);
}
