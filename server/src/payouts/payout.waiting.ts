import { LEAVES_WITHIN_MS } from './payout.polling.ts';
import type { QueriedStatus } from './payout-outcome.store.ts';

/**
 * Why a payout that was sent has no outcome yet.
 * - `awaiting_operator`: the rail does not know the order, and its connection does not say that it rejects duplicates, so
 *   the service never sends the order again on its own.
 * - `resend_scheduled`: the order leaves again.
 * - `rail_in_progress`: the rail has the order and has not decided.
 * - `rail_not_found`: the rail does not know the order, which may still arrive.
 * - `rail_contradicts`: the rail reports an outcome that does not fit this payout; an anomaly says what.
 * - `rail_unanswered`: the last query brought no answer, or none was made yet.
 */
export type WaitingReason =
  | 'awaiting_operator'
  | 'resend_scheduled'
  | 'rail_in_progress'
  | 'rail_not_found'
  | 'rail_contradicts'
  | 'rail_unanswered';

/** What the connection says about the rail, as far as it matters here. */
interface RailLimits {
  readonly rejectsDuplicateOrders: boolean;
  readonly maxProcessingMs: number;
}

/** An order that left longer ago than this has arrived, if it ever does. */
export function arrivesWithinMs({ maxProcessingMs }: Pick<RailLimits, 'maxProcessingMs'>): number {
  return LEAVES_WITHIN_MS + maxProcessingMs;
}

export function waitingReason(
  payout: {
    readonly rail_task: 'send' | 'ask';
    readonly rail_status: QueriedStatus | null;
    readonly sent_ms_ago: number;
  },
  rail: RailLimits,
): WaitingReason {
  if (payout.rail_task === 'send') return 'resend_scheduled';
  switch (payout.rail_status) {
    case 'processing':
      return 'rail_in_progress';
    case 'settled':
    case 'rejected':
      return 'rail_contradicts';
    case 'not_found': {
      const mayArrive = payout.sent_ms_ago < arrivesWithinMs(rail);
      return mayArrive || rail.rejectsDuplicateOrders ? 'rail_not_found' : 'awaiting_operator';
    }
    default:
      return 'rail_unanswered';
  }
}
