import type { Rail } from '../rails/contract.ts';

/** What is to be done next about a payin at its rail, and when. */
export interface RailTask {
  readonly task: 'ask' | 'close';
  readonly at: Date;
}

const MINUTE = 60_000;

/**
 * When a rail is asked about a payin that has heard nothing, counted from its creation. A notice usually comes within
 * seconds; PSE is not asked before seven minutes (rails.md), for the payer is still at the bank.
 */
const ASK_AFTER_MS: Readonly<Record<Rail, readonly number[]>> = {
  BRE_B: [0.5 * MINUTE, 5 * MINUTE, 20 * MINUTE],
  PSE: [7 * MINUTE, 12 * MINUTE, 20 * MINUTE, 36 * MINUTE],
};

/** PSE's collections cannot be closed by us: after their time the rail is asked until it has decided. */
const AFTER_EXPIRY_MS = 5 * MINUTE;

/** As SQL, for the payins of a batch that all begin at one moment. */
export const FIRST_QUESTION_SECONDS: Readonly<Record<Rail, number>> = {
  BRE_B: (ASK_AFTER_MS.BRE_B[0] ?? 0) / 1000,
  PSE: (ASK_AFTER_MS.PSE[0] ?? 0) / 1000,
};

export function nextTask(
  rail: Rail,
  { createdAt, expiresAt, now }: { createdAt: Date; expiresAt: Date; now: Date },
): RailTask {
  const later = ASK_AFTER_MS[rail]
    .map((after) => createdAt.getTime() + after)
    .find((at) => at > now.getTime() && at < expiresAt.getTime());
  if (later !== undefined) return { task: 'ask', at: new Date(later) };
  if (rail === 'BRE_B') return { task: 'close', at: expiresAt };
  const afterwards = now < expiresAt ? expiresAt : new Date(now.getTime() + AFTER_EXPIRY_MS);
  return { task: 'ask', at: afterwards };
}
