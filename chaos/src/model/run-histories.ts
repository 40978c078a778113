import * as fc from 'fast-check';
import type { Cluster } from '../cluster.ts';
import { type Outcome, say } from '../outcome.ts';
import { startStage } from '../stage.ts';
import { anyHistory } from './generate-steps.ts';
import { InvariantViolation } from './invariant-violation.ts';
import { KEPT_HISTORIES, type KeptHistory } from './kept-histories.ts';
import { KEPT_PAYOUT_HISTORIES } from './kept-payout-histories.ts';
import { runHistory } from './run-history.ts';
import { shorten } from './shorten.ts';
import type { Step } from './step.ts';
import { inWorld, type World } from './world.ts';

const ORGANIZATIONS = 8;
/** A failing history is made shorter for so long, then told as it is. */
const SHORTEN_FOR_MS = 60_000;
const TELL_EVERY = 50;
const KEPT = [...KEPT_HISTORIES, ...KEPT_PAYOUT_HISTORIES];

/** The kept histories, then random ones by the seed, until one fails. */
export async function runHistories(
  cluster: Cluster,
  seed: number,
  count: number,
  path?: string,
): Promise<Outcome> {
  const began = performance.now();
  say(`histories: seed ${seed}, ${KEPT.length} kept and ${count} random`);
  const stage = await startStage(cluster);
  try {
    const organizations = Math.min(ORGANIZATIONS, Math.max(1, count));
    const [kept, random] = await inWorld(stage, { organizations }, async (world) => [
      await runKept(world, KEPT),
      await runRandom(world, { seed, count, path }),
    ]);
    say(`histories: ${seconds(performance.now() - began)} s`);
    return { passed: kept.passed + random.passed, failed: kept.failed + random.failed };
  } finally {
    await stage.stop();
  }
}

async function runKept(world: World, histories: readonly KeptHistory[]): Promise<Outcome> {
  let failed = 0;
  for (const { name, steps } of histories) {
    try {
      await runHistory(world, steps);
    } catch (error) {
      failed += 1;
      say(`  FAIL  kept history "${name}"\n  ${textOf(error)}`);
    }
  }
  return { passed: histories.length - failed, failed };
}

async function runRandom(
  world: World,
  { seed, count, path }: { seed: number; count: number; path: string | undefined },
): Promise<Outcome> {
  const told = { histories: 0, steps: 0, payins: 0, payouts: 0 };
  const began = performance.now();
  const property = fc.asyncProperty(anyHistory, async (steps) => {
    const { steps: taken, payins, payouts } = await runHistory(world, steps);
    told.histories += 1;
    told.steps += taken;
    told.payins += payins;
    told.payouts += payouts;
    if (told.histories % TELL_EVERY === 0) say(progress(told, performance.now() - began));
  });
  const details = await fc.check(property, {
    numRuns: count,
    seed,
    endOnFailure: true,
    ...(path === undefined ? {} : { path }),
  });
  say(progress(told, performance.now() - began));
  if (!details.failed) return { passed: told.histories, failed: 0 };
  const [steps] = details.counterexample ?? [[]];
  say(
    `  FAIL  history of seed ${seed}, path ${details.counterexamplePath ?? ''}: ${textOf(details.errorInstance)}`,
  );
  say(listOf(steps));
  await tellShortest(world, steps, details.errorInstance);
  return { passed: told.histories, failed: 1 };
}

async function tellShortest(world: World, steps: readonly Step[], error: unknown): Promise<void> {
  if (!(error instanceof InvariantViolation)) return;
  const shortest = await shorten(world, steps, error, SHORTEN_FOR_MS);
  say(`  the shortest of it that was found: ${shortest.broken.message}`);
  say(`  to keep it as a test (chaos/src/model/kept-histories.ts):\n${listOf(shortest.steps)}`);
}

function progress(
  told: { histories: number; steps: number; payins: number; payouts: number },
  ms: number,
): string {
  const each = told.histories === 0 ? 0 : Math.round(ms / told.histories);
  return `  ${told.histories} histories, ${told.steps} steps, ${told.payins} payins, ${told.payouts} payouts in ${seconds(ms)} s (${each} ms each)`;
}

function listOf(steps: readonly Step[]): string {
  return steps.map((step) => `    ${JSON.stringify(step)},`).join('\n');
}

function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'InvariantViolation' ? error.message : (error.stack ?? error.message);
}
