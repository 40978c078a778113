import { History } from './history.ts';
import { finishHistory } from './idle.ts';
import type { Step } from './step.ts';
import { takeStep } from './take-step.ts';
import type { World } from './world.ts';

export interface HistoryCounts {
  readonly steps: number;
  readonly payins: number;
  readonly payouts: number;
  readonly links: number;
}

const PAYING: ReadonlySet<Step['do']> = new Set([
  'payout',
  'payout_then_cancel',
  'concurrent_payouts',
  'competing_payouts',
]);

/**
 * Runs a history and checks the invariants after every step.
 * @throws InvariantViolation; the organization is then not reused, because its data is wrong
 */
export async function runHistory(world: World, steps: readonly Step[]): Promise<HistoryCounts> {
  const history = await History.start(
    world,
    steps.some((step) => PAYING.has(step.do)),
  );
  try {
    for (const step of steps) await takeStep(history, step);
    await finishHistory(history);
  } catch (error) {
    world.discard(history.organizationId);
    for (const hold of history.locks.splice(0)) await hold.release();
    throw error;
  }
  const { payins, payouts, links } = history;
  return { steps: steps.length, payins: payins.length, payouts: payouts.length, links: links.length };
}
