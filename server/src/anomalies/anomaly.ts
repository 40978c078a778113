import type { Rail } from '../rails/contract.ts';

/**
 * - `paid_late`: money for a payin that had ended without payment.
 * - `paid_again`: a further payment for a paid payin.
 * - `underpaid`: less money than the payin or its payment link requests.
 * - `overpaid`: the excess over the amount of the payin or its payment link.
 * - `unmatched`: an update for an unknown reference; with money, if the rail's status confirms it.
 * - `contradiction`: the rail contradicts its earlier statements.
 * - `unconfirmed`: a notified payment that the rail's status does not list.
 * - `payment_not_listed`: after the rail's processing time its status does not list the payment that confirmed a payin, or
 *   lists it with another amount. The payin's settlement is held.
 * - `sent_late`: money was sent for a payout that had ended without sending.
 * - `sent_again`: money was sent once more for a confirmed payout.
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
 * How an anomaly was resolved. Received money: credited to the merchant, or returned by a payout. Sent money: charged to
 * the merchant, or written off. No money: dismissed. A held settlement: released, or its posting reversed by an operator;
 * or `listed` by the service, because the rail lists the payment after all.
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

/**
 * A rail update that no state transition can absorb. Its money, if any, is in suspense: positive when received, negative
 * when sent.
 */
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
  /** The payout that returns the money. */
  readonly returnPayoutId: string | null;
  readonly resolvedBy: string | null;
  readonly note: string | null;
  /** When the merchant accepted the money. A worker then credits it and resolves the anomaly. */
  readonly acceptedAt: Date | null;
  /** The id of the API key. */
  readonly acceptedBy: string | null;
  /** Number of reversed resolutions. */
  readonly reversals: number;
}

/** The ledger cause of the next resolution. It includes the number of reversals, because a cause can be posted only once. */
export function anomalyCause({ id, reversals }: Pick<Anomaly, 'id' | 'reversals'>) {
  return { kind: 'anomaly', id: reversals === 0 ? id : `${id}:${reversals}` } as const;
}
