import { History } from './history.ts';
import { comeToAnEnd } from './rest.ts';
import type { Step } from './step.ts';
import { takeStep } from './take-step.ts';
import type { World } from './world.ts';

export interface Told {
  readonly steps: number;
  readonly payins: number;
  readonly payouts: number;
}

const PAYING: ReadonlySet<Step['do']> = new Set(['payout', 'fleeting payout', 'payout twins', 'rivals']);

/**
 * Plays a history to its end and judges it at every step.
 * @throws InvariantViolation; the organization is then left alone for good, its books being wrong
 */
export async function runHistory(world: World, steps: readonly Step[]): Promise<Told> {
  const history = await History.begin(
    world,
    steps.some((step) => PAYING.has(step.do)),
  );
  try {
    for (const step of steps) await takeStep(history, step);
    await comeToAnEnd(history);
  } catch (error) {
    world.discard(history.organizationId);
    for (const hold of history.holds.splice(0)) await hold.letGo();
    throw error;
  }
  return { steps: steps.length, payins: history.payins.length, payouts: history.payouts.length };
}
