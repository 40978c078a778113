import type { Rail } from '../rails/contract.ts';

/** The next task of a payin at its rail. `ask` queries its status. */
export interface RailTask {
  readonly task: 'poll' | 'close';
  readonly at: Date;
}

const MINUTE = 60_000;

/**
 * Poll times of a payin without notification, counted from its creation. A notification usually arrives within seconds.
 * PSE is not polled in the first seven minutes, because the payer is still at the bank.
 */
const POLL_AFTER_MS: Readonly<Record<Rail, readonly number[]>> = {
  BRE_B: [0.5 * MINUTE, 5 * MINUTE, 20 * MINUTE],
  PSE: [7 * MINUTE, 12 * MINUTE, 20 * MINUTE, 36 * MINUTE],
};

/**
 * Poll interval after the expiry, until the rail reports a final status. This takes a while on PSE, where we cannot close
 * collections. A Bre-B key that we closed and that is still reported open means that the node's status lags behind.
 */
const AFTER_EXPIRY_MS: Readonly<Record<Rail, number>> = { BRE_B: 0.5 * MINUTE, PSE: 5 * MINUTE };

/** In seconds, for the SQL that inserts payins. */
export const FIRST_POLL_SECONDS: Readonly<Record<Rail, number>> = {
  BRE_B: (POLL_AFTER_MS.BRE_B[0] ?? 0) / 1000,
  PSE: (POLL_AFTER_MS.PSE[0] ?? 0) / 1000,
};

/**
 * Delay of the last poll after a key was closed or a payin ended. A payment may have been in progress and its notification
 * lost: only after the rail's processing time is the status sure to list it.
 */
export function lastPollMs(maxProcessingMs: number): number {
  return Math.max(MINUTE, maxProcessingMs);
}

interface Ended {
  readonly now: Date;
  /** Since the payin reached its final state, by the database clock. */
  readonly endedMsAgo: number;
}

/**
 * The last task of a payin that has ended: a closed Bre-B key is polled once more. An earlier query, which verified the
 * payment before that time, does not count as the last one.
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
  const done = justDone === 'poll' && endedMsAgo >= afterMs;
  return rail === 'BRE_B' && !done ? { task: 'poll', at: new Date(now.getTime() + afterMs) } : null;
}

const MIN_VERIFICATION_INTERVAL_MS = 1000;
const MAX_VERIFICATION_INTERVAL_MS = 60 * MINUTE;
/** A reversed payment is polled this long; after that only a notification leads to another query. */
const MAX_REVERSED_POLLING_MS = 7 * 24 * 60 * MINUTE;

/**
 * The next poll for a payment that the rail does not list. The interval grows with the time since the confirmation. The
 * first query that starts after the processing time decides, so it is not delayed: it starts when that time ends, or
 * immediately if it ended while the current answer was in transit.
 */
export function verificationTask({
  now,
  endedMsAgo,
  maxProcessingMs,
  decided,
  reversed,
}: Ended & {
  readonly maxProcessingMs: number;
  /** The query that was just answered started after the processing time. */
  readonly decided: boolean;
  readonly reversed: boolean;
}): RailTask | null {
  if (reversed && endedMsAgo >= MAX_REVERSED_POLLING_MS) return null;
  const interval = Math.min(
    Math.max(endedMsAgo / 2, MIN_VERIFICATION_INTERVAL_MS),
    MAX_VERIFICATION_INTERVAL_MS,
  );
  const untilDecision = Math.max(maxProcessingMs - endedMsAgo, 0);
  const afterMs = decided ? interval : Math.min(interval, untilDecision);
  return { task: 'poll', at: new Date(now.getTime() + Math.ceil(afterMs)) };
}

interface OpenPayin {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly now: Date;
  /** Whether the task just done was `close`. */
  readonly closed: boolean;
}

export function nextTask(rail: Rail, { createdAt, expiresAt, now, closed }: OpenPayin): RailTask {
  const later = POLL_AFTER_MS[rail]
    .map((after) => createdAt.getTime() + after)
    .find((at) => at > now.getTime() && at < expiresAt.getTime());
  if (later !== undefined) return { task: 'poll', at: new Date(later) };
  const task = rail === 'BRE_B' ? 'close' : 'poll';
  // Polled after its expiry: close it immediately. Already closed, but still open by the rail's status: retry later.
  const atExpiry = now < expiresAt || (task === 'close' && !closed);
  return { task, at: atExpiry ? expiresAt : new Date(now.getTime() + AFTER_EXPIRY_MS[rail]) };
}
