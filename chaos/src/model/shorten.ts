import { InvariantViolation } from './invariant-violation.ts';
import { runHistory } from './run-history.ts';
import type { Step } from './step.ts';
import type { World } from './world.ts';

/**
 * Removes the steps that a failing history does not need, within the time limit. fast-check would also shrink the numbers,
 * and at one second per try that leaves too few tries for the steps.
 */
export async function shorten(
  world: World,
  steps: readonly Step[],
  violation: InvariantViolation,
  withinMs: number,
): Promise<{ readonly steps: readonly Step[]; readonly violation: InvariantViolation }> {
  const deadline = performance.now() + withinMs;
  let shortest = { steps, violation };
  for (let index = steps.length - 1; index >= 0 && performance.now() < deadline; index -= 1) {
    const without = shortest.steps.toSpliced(index, 1);
    const found = await findBreach(world, without);
    if (found) shortest = { steps: without, violation: found };
  }
  return shortest;
}

/** A violation of another invariant counts too: it is usually the same bug, detected at another time. */
async function findBreach(world: World, steps: readonly Step[]): Promise<InvariantViolation | null> {
  try {
    await runHistory(world, steps);
    return null;
  } catch (error) {
    if (error instanceof InvariantViolation) return error;
    throw error;
  }
}
