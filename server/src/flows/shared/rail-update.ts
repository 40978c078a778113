import type { Tx } from '../../db/tx.ts';
import type { Rail, RailNotification } from '../../rails/contract.ts';

/** News about one payin or payout: a notification of the rail, a queried status, or both. */
export interface RailUpdate<Status> {
  readonly rail: Rail;
  readonly reference: string;
  /** With a `railStatus`: the notification that led to the query. */
  readonly notification: RailNotification | null;
  readonly railStatus: Status | null;
  /**
   * The notification is older than the rail's processing window: if the status does not confirm it, that is conclusive.
   * Without a notification, this refers to the payment that confirmed the payin.
   */
  readonly pastProcessingWindow: boolean;
}

/** `duplicate`: nothing new. `needs_verification`: not applied, the rail must be queried first. */
export type UpdateResult = 'applied' | 'duplicate' | 'needs_verification' | 'unconfirmed';

export interface ApplyOptions {
  /** The lease on the resources of the updates: those that stay open get their next poll. Null when they are not leased. */
  readonly leaseToken: string | null;
  /** Runs before the ledger postings: the balance row is the most contended one, so it is locked last. */
  readonly conclude: (results: readonly UpdateResult[]) => Promise<void>;
}

/** Applies rail updates in the caller's transaction. */
export type ApplyUpdates<Status> = (
  tx: Tx,
  updates: readonly RailUpdate<Status>[],
  options: ApplyOptions,
) => Promise<unknown>;
