import type { Books } from './books.ts';
import type { KnownPayin } from './known-payin.ts';
import type { KnownPayout } from './known-payout.ts';
import type { RailFacts } from './rail-facts.ts';

/**
 * All that a promise is judged by. The facts were read after the books: whatever the books say must be founded in them,
 * while they may tell of something that the books could not know yet.
 */
export interface View {
  readonly organizationId: string;
  readonly payins: readonly KnownPayin[];
  readonly payouts: readonly KnownPayout[];
  /** Anomalies that the merchant has accepted, and whether the acceptance was acknowledged. */
  readonly accepted: ReadonlyMap<string, boolean>;
  /** How often the orders of a payout had come to the rail before the books were read, by its id. */
  readonly arrived: ReadonlyMap<string, number>;
  /** By which promise of the directory a payout was created, by its id. */
  readonly promised: ReadonlyMap<string, string>;
  readonly books: Books;
  readonly facts: RailFacts;
  /** Numbers of the notices that had arrived when work last came to rest. */
  readonly heard: ReadonlySet<string>;
}

export function isFinal(status: string): boolean {
  return status === 'CONFIRMED' || status === 'DECLINED' || status === 'CANCELED';
}
