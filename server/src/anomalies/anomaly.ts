import type { Rail } from '../rails/contract.ts';

/**
 * - `paid_late`: money for a payin that had ended without.
 * - `paid_again`: more money for a payin that was paid.
 * - `underpaid`: less money than the payin, or its payment link, requests.
 * - `overpaid`: what arrived beyond the amount of the payin or its payment link.
 * - `unmatched`: about nothing we know; with money, if the rail stands by it.
 * - `contradiction`: what the rail says cannot be true together with what it said before.
 * - `unconfirmed`: a payment was announced that the rail, asked, knows nothing of.
 * - `payment_not_listed`: the rail, queried after its processing time, does not list the payment that confirmed a payin, or
 *   lists it with another amount. The payin's settlement is held.
 * - `sent_late`: money left for a payout that had ended without.
 * - `sent_again`: money left once more for a payout that was confirmed.
 */
type AnomalyKind =
  | 'paid_late'
  | 'paid_again'
  | 'underpaid'
  | 'overpaid'
  | 'unmatched'
  | 'contradiction'
  | 'unconfirmed'
  | 'payment_not_listed'
  | 'sent_late'
  | 'sent_again';

/**
 * How an operator ended it. Money that came: credited to the merchant, or returned by a payout. Money that left: charged to
 * the merchant, or written off. No money: put away. A held settlement: released, or its booking reversed; or ended by the
 * service, because the rail lists the payment after all.
 */
export type Resolution =
  | 'credit'
  | 'return'
  | 'charge'
  | 'write_off'
  | 'dismiss'
  | 'release'
  | 'reverse'
  | 'listed';

/** What a rail said that no state of ours can take up. Its money, if any, is in suspense; below zero, suspense owes it. */
export interface Anomaly {
  readonly organizationId: string;
  readonly id: string;
  readonly payinId: string | null;
  readonly payoutId: string | null;
  readonly rail: Rail;
  readonly kind: AnomalyKind;
  readonly reference: string;
  readonly executionId: string | null;
  readonly amount: bigint | null;
  readonly noticedAt: Date;
  readonly resolvedAt: Date | null;
  readonly resolution: Resolution | null;
  /** The payout that gives its money back. */
  readonly returnPayoutId: string | null;
  readonly resolvedBy: string | null;
  readonly note: string | null;
  /** When its merchant took the money, and with which API key. It is resolved once a worker has credited it. */
  readonly acceptedAt: Date | null;
  readonly acceptedBy: string | null;
  /** How many of its resolutions were reversed. */
  readonly reversals: number;
}

/** The ledger cause of its next resolution: one that was reversed has used up its own. */
export function anomalyCause({ id, reversals }: Pick<Anomaly, 'id' | 'reversals'>) {
  return { kind: 'anomaly', id: reversals === 0 ? id : `${id}:${reversals}` } as const;
}
