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
export const FIRST_POLL_SECONDS: Readonly<Record<Rail, number>> = {
  BRE_B: (ASK_AFTER_MS.BRE_B[0] ?? 0) / 1000,
  PSE: (ASK_AFTER_MS.PSE[0] ?? 0) / 1000,
};

/**
 * How long after a key was closed or a payin ended the rail is queried for the last time. A payment may have been in
 * progress, and its notification may be lost: only after the rail's processing time does the status list it for certain.
 */
export function lastPollMs(maxProcessingMs: number): number {
  return Math.max(MINUTE, maxProcessingMs);
}

interface Ended {
  readonly now: Date;
  /** Since the payin reached its final state, by the database's clock. */
  readonly endedMsAgo: number;
}

/**
 * What is still to be done about a payin that has ended: a key that was closed is asked about once more. A query that
 * verified the payment before that time came between the two.
 */
export function lastTask(
  rail: Rail,
  {
    now,
    endedMsAgo,
    justDone,
    maxProcessingMs,
  }: Ended & {
    readonly justDone: 'open' | RailTask['task'] | null;
    readonly maxProcessingMs: number;
  },
): RailTask | null {
  const afterMs = lastPollMs(maxProcessingMs);
  const asked = justDone === 'ask' && endedMsAgo >= afterMs;
  return rail === 'BRE_B' && !asked ? { task: 'ask', at: new Date(now.getTime() + afterMs) } : null;
}

const SHORTEST_VERIFICATION_MS = 1000;
const LONGEST_VERIFICATION_MS = 60 * MINUTE;
/** A payment that was reversed is looked for this long: then only a notification leads to another query. */
const REVERSED_FOR_MS = 7 * 24 * 60 * MINUTE;

/**
 * When the rail is queried again for a payment that it does not list. The pause grows with the time since the
 * confirmation. The first query that begins after the processing time decides, so it is not put off: it begins when that
 * time ends, or at once when it ended while this answer was on its way.
 */
export function verificationTask({
  now,
  endedMsAgo,
  maxProcessingMs,
  decided,
  reversed,
}: Ended & {
  readonly maxProcessingMs: number;
  /** The query that was just answered began after the processing time. */
  readonly decided: boolean;
  readonly reversed: boolean;
}): RailTask | null {
  if (reversed && endedMsAgo >= REVERSED_FOR_MS) return null;
  const pause = Math.min(Math.max(endedMsAgo / 2, SHORTEST_VERIFICATION_MS), LONGEST_VERIFICATION_MS);
  const untilDecision = Math.max(maxProcessingMs - endedMsAgo, 0);
  const afterMs = decided ? pause : Math.min(pause, untilDecision);
  return { task: 'ask', at: new Date(now.getTime() + Math.ceil(afterMs)) };
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
