import { InvariantViolation } from './invariant-violation.ts';
import { runHistory } from './run-history.ts';
import type { Step } from './step.ts';
import type { World } from './world.ts';

/**
 * Leaves out whatever a failing history does not need, step by step, as long as time allows. fast-check would make the
 * numbers smaller too and take its tries for that, of which a second each gives few; steps are what one reads.
 */
export async function shorten(
  world: World,
  steps: readonly Step[],
  broken: InvariantViolation,
  withinMs: number,
): Promise<{ readonly steps: readonly Step[]; readonly broken: InvariantViolation }> {
  const deadline = performance.now() + withinMs;
  let shortest = { steps, broken };
  for (let index = steps.length - 1; index >= 0 && performance.now() < deadline; index -= 1) {
    const without = shortest.steps.toSpliced(index, 1);
    const found = await breachOf(world, without);
    if (found) shortest = { steps: without, broken: found };
  }
  return shortest;
}

/** Another promise counts too: what breaks two is the same mistake, seen at another moment. */
async function breachOf(world: World, steps: readonly Step[]): Promise<InvariantViolation | null> {
  try {
    await runHistory(world, steps);
    return null;
  } catch (error) {
    if (error instanceof InvariantViolation) return error;
    throw error;
  }
}
