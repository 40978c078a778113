/** The next rail task of a payout, and when it is due. */
export interface PayoutTask {
  readonly task: 'send' | 'poll';
  readonly afterMs: number;
}

/** The rail's notice usually arrives within seconds; connectors in production wait about this long before they poll. */
export const FIRST_POLL_MS = 30_000;

/**
 * An order is sent no later than this after its attempt was committed: by then the lease has ended, and a sender that was
 * suspended longer does not send it.
 */
export const MAX_SEND_DELAY_MS = 20_000;

/**
 * A directory resolution is refreshed this long before it expires at the rail. No order is sent with less time left.
 */
export const RESOLUTION_MARGIN_MS = 60_000;

/** After this an unknown outcome is shown to operators: the rail takes at most twenty seconds. */
export const OVERDUE_SECONDS = 60;

/**
 * Delay from the decline of a sent payout to its last poll: at least the rail's processing time, because the rail may
 * still execute the order until then.
 */
export function lastPollMs(maxProcessingMs: number): number {
  return Math.max(60_000, maxProcessingMs);
}

/** Short at first, because the rail is about to decide; longer later, when only the rail's operators can resolve it. */
export function nextPollMs(sentMsAgo: number): number {
  if (sentMsAgo < 120_000) return 5000;
  return sentMsAgo < 3_600_000 ? 30_000 : 300_000;
}
