import type { Tx } from '../../db/tx.ts';
import type { Rail, RailNotification } from '../../rails/contract.ts';

/** What is heard of one payin or payout: a message of the rail, or its answer when it was asked. */
export interface RailUpdate<CollectionStatus> {
  readonly rail: Rail;
  readonly reference: string;
  /** The message; beside a standing, the one that led to asking. */
  readonly notification: RailNotification | null;
  readonly railStatus: CollectionStatus | null;
  /**
   * Told so long ago that the rail, asked now, would know of it if it were so. Without a message: that which confirmed
   * the payin.
   */
  readonly pastProcessingWindow: boolean;
}

/** `known`: nothing new in it. `doubtful`: nothing was done, the rail must be asked first. */
export type UpdateResult = 'applied' | 'duplicate' | 'needs_verification' | 'unconfirmed';

export interface ApplyOptions {
  /** Under which what the words are about is claimed: what stays open gets its next question. */
  readonly leaseToken: string | null;
  /** The rest of the transaction, before the ledger: a balance is the one row that everybody needs, so it comes last. */
  readonly conclude: (results: readonly UpdateResult[]) => Promise<void>;
}

/** Makes of words what follows from them, all in the caller's transaction. */
export type ApplyUpdates<CollectionStatus> = (
  tx: Tx,
  updates: readonly RailUpdate<CollectionStatus>[],
  options: ApplyOptions,
) => Promise<unknown>;
