import type { Cents } from '../kit/money.ts';
import type { Rail } from '../rails/contract.ts';

/**
 * - `paid_late`: money for a payin that had ended without.
 * - `paid_again`: more money for a payin that was paid.
 * - `unmatched`: about nothing we know; with money, if the rail stands by it.
 * - `contradiction`: the rail tells of an end without money, but the money is here.
 * - `unfounded`: a payment was announced that the rail, asked, knows nothing of.
 */
type AnomalyKind = 'paid_late' | 'paid_again' | 'unmatched' | 'contradiction' | 'unfounded';

/** What a rail said that no state of ours can take up. Its money, if any, is in suspense. */
export interface Anomaly {
  readonly organizationId: string;
  readonly id: string;
  readonly payinId: string | null;
  readonly rail: Rail;
  readonly kind: AnomalyKind;
  readonly reference: string;
  readonly executionId: string | null;
  readonly amount: Cents | null;
  readonly noticedAt: Date;
  readonly resolvedAt: Date | null;
  readonly resolution: 'credit' | 'dismiss' | null;
  readonly resolvedBy: string | null;
  readonly note: string | null;
}
