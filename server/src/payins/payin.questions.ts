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

/**
 * After its time a rail is asked until it has decided. PSE's collections cannot be closed by us, so that takes a while; a
 * Bre-B key that was closed and still does not stand as closed is a node whose books are behind.
 */
const AFTER_EXPIRY_MS: Readonly<Record<Rail, number>> = { BRE_B: 0.5 * MINUTE, PSE: 5 * MINUTE };

/** As SQL, for the payins of a batch that all begin at one moment. */
export const FIRST_QUESTION_SECONDS: Readonly<Record<Rail, number>> = {
  BRE_B: (ASK_AFTER_MS.BRE_B[0] ?? 0) / 1000,
  PSE: (ASK_AFTER_MS.PSE[0] ?? 0) / 1000,
};

/**
 * A payment may have been under way when a key was closed or a payin ended, and the notice of it may be lost. By then
 * the network has long carried it out or dropped it (twenty seconds at most), so this question is the last.
 */
export const LAST_QUESTION_SECONDS = 60;

/** What is still to be done about a payin that has ended: a key that was closed is asked about once more. */
export function lastTask(justDone: 'open' | RailTask['task'] | null, now: Date): RailTask | null {
  return justDone === 'close'
    ? { task: 'ask', at: new Date(now.getTime() + LAST_QUESTION_SECONDS * 1000) }
    : null;
}

interface Moment {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly now: Date;
  /** Whether what was just done was closing it. */
  readonly closed: boolean;
}

export function nextTask(rail: Rail, { createdAt, expiresAt, now, closed }: Moment): RailTask {
  const later = ASK_AFTER_MS[rail]
    .map((after) => createdAt.getTime() + after)
    .find((at) => at > now.getTime() && at < expiresAt.getTime());
  if (later !== undefined) return { task: 'ask', at: new Date(later) };
  const task = rail === 'BRE_B' ? 'close' : 'ask';
  // Asked late, and its time is over: it is closed at once. Closed already, and still open by the rail's books: later.
  const atOnce = now < expiresAt || (task === 'close' && !closed);
  return { task, at: atOnce ? expiresAt : new Date(now.getTime() + AFTER_EXPIRY_MS[rail]) };
}
