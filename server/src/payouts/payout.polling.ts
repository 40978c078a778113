/** What is to be done next about a payout at its rail, and when. */
export interface PayoutTask {
  readonly task: 'send' | 'ask';
  readonly afterMs: number;
}

/** The rail's notice usually comes within seconds; connectors in production wait about this long before they ask. */
export const FIRST_POLL_MS = 30_000;

/**
 * An order leaves no later than this after its attempt was committed: the claim has ended then, and a sender that slept so
 * long leaves it alone.
 */
export const LEAVES_WITHIN_MS = 20_000;

/**
 * What the directory promised about a key is renewed this long before the rail stops honouring it, and no order leaves
 * under an older one.
 */
export const RESOLUTION_MARGIN_MS = 60_000;

/** From here on an unknown outcome is for a person to see: the rail takes twenty seconds at most. */
export const OVERDUE_SECONDS = 60;

/**
 * How long after its end a declined payout that had left is queried for the last time: not before the rail's processing
 * time has passed, because the rail may still execute the order until then.
 */
export function lastPollMs(maxProcessingMs: number): number {
  return Math.max(60_000, maxProcessingMs);
}

/** Soon at first, for the rail is about to decide; rarely later, for by then somebody there must. */
export function nextPollMs(sentMsAgo: number): number {
  if (sentMsAgo < 120_000) return 5000;
  return sentMsAgo < 3_600_000 ? 30_000 : 300_000;
}
