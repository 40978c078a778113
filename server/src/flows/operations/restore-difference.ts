import type { Cents } from '../../kit/money.ts';
import type { Rail } from '../../rails/contract.ts';

/**
 * What the comparison after a restore found.
 * - `payout_executed`, `payout_rejected`: the rail ended an order of a payout that the database had as open.
 * - `payout_in_progress`: the rail has the order of a payout that the database had as not sent.
 * - `unknown_order`: the rail has an order, and the database has no payout: a person decides.
 * - `contradiction`: the rail's outcome contradicts an ended payout: an anomaly.
 * - `payment_received`: a payment of a payin that the database did not have.
 * - `unknown_payment`: a payment for no payin of the database: an anomaly, its money in suspense.
 */
export interface Difference {
  readonly kind:
    | 'payout_executed'
    | 'payout_rejected'
    | 'payout_in_progress'
    | 'unknown_order'
    | 'contradiction'
    | 'payment_received'
    | 'unknown_payment';
  readonly rail: Rail;
  /** The end-to-end id of an order, or the reference of a payment. */
  readonly reference: string;
  readonly amount: Cents;
  /** The payout; null when there is none. */
  readonly resourceId: string | null;
}

/** Differences that a person must look at; the others are booked. */
export const LISTED: ReadonlySet<Difference['kind']> = new Set([
  'unknown_order',
  'contradiction',
  'unknown_payment',
]);
