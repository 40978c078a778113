import type { KnownLink } from './known-link.ts';
import type { KnownPayin } from './known-payin.ts';
import type { KnownPayout } from './known-payout.ts';
import type { RailFacts } from './rail-facts.ts';
import type { EventRow, Snapshot } from './snapshot.ts';

/**
 * The input of the invariants. The rail facts were read after the snapshot: everything in the snapshot must be justified by
 * the facts, but the facts may contain later events.
 */
export interface View {
  readonly organizationId: string;
  readonly payins: readonly KnownPayin[];
  readonly payouts: readonly KnownPayout[];
  readonly links: readonly KnownLink[];
  /** Anomalies that the merchant has accepted, and whether the acceptance was acknowledged. */
  readonly accepted: ReadonlyMap<string, boolean>;
  /** Number of order arrivals before the snapshot, by payout id. */
  readonly arrived: ReadonlyMap<string, number>;
  /** The key resolution with which a payout was created, by payout id. */
  readonly initialResolutions: ReadonlyMap<string, string>;
  readonly snapshot: Snapshot;
  readonly facts: RailFacts;
  /** Ids of the notices that had been delivered when the stack was last idle. */
  readonly deliveredNotices: ReadonlySet<string>;
}

/** Whether these events of a resource are exactly the wanted one, also among the final events; undefined: none. */
export function isOnlyEvent(events: readonly EventRow[], wanted: string | undefined): boolean {
  if (wanted === undefined) return events.length === 0;
  const [only] = events;
  return events.length === 1 && only?.event === wanted && only.final === wanted;
}

export function isFinalLink(status: string): boolean {
  return status === 'COMPLETED' || status === 'EXPIRED';
}

export function isFinal(status: string): boolean {
  return status === 'CONFIRMED' || status === 'DECLINED' || status === 'CANCELED';
}
