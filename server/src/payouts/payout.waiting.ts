import { MAX_SEND_DELAY_MS } from './payout.polling.ts';
import type { QueriedStatus } from './payout-outcome.store.ts';

/**
 * Why a sent payout has no outcome yet.
 * - `awaiting_operator`: the rail does not know the order and does not guarantee to reject duplicates, so the service
 *   never resends the order without an operator's decision.
 * - `resend_scheduled`: the order will be sent again.
 * - `rail_in_progress`: the rail has the order and has not decided.
 * - `rail_not_found`: the rail does not know the order, which may still arrive.
 * - `rail_contradicts`: the rail reports an outcome that does not fit this payout; an anomaly has the details.
 * - `rail_unanswered`: the last poll got no answer, or there was none yet.
 */
export type WaitingReason =
  | 'awaiting_operator'
  | 'resend_scheduled'
  | 'rail_in_progress'
  | 'rail_not_found'
  | 'rail_contradicts'
  | 'rail_unanswered';

/** The rail capabilities that matter here. */
interface RailLimits {
  readonly rejectsDuplicateOrders: boolean;
  readonly maxProcessingMs: number;
}

/** An order sent longer ago than this has arrived or never will. */
export function maxArrivalMs({ maxProcessingMs }: Pick<RailLimits, 'maxProcessingMs'>): number {
  return MAX_SEND_DELAY_MS + maxProcessingMs;
}

export function waitingReason(
  payout: {
    readonly rail_task: 'send' | 'poll';
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
      const mayArrive = payout.sent_ms_ago < maxArrivalMs(rail);
      return mayArrive || rail.rejectsDuplicateOrders ? 'rail_not_found' : 'awaiting_operator';
    }
    default:
      return 'rail_unanswered';
  }
}
