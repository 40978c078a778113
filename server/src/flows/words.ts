import type { Tx } from '../db/tx.ts';
import type { Rail, Told } from '../rails/contract.ts';

/** What is heard of one payin or payout: a message of the rail, or its answer when it was asked. */
export interface Word<Standing> {
  readonly rail: Rail;
  readonly reference: string;
  /** The message; beside a standing, the one that led to asking. */
  readonly told: Told | null;
  readonly standing: Standing | null;
  /**
   * Told so long ago that the rail, asked now, would know of it if it were so. Without a message: that which confirmed
   * the payin.
   */
  readonly toldLongAgo: boolean;
}

/** `known`: nothing new in it. `doubtful`: nothing was done, the rail must be asked first. */
export type WordResult = 'applied' | 'known' | 'doubtful' | 'unfounded';

export interface ApplyOptions {
  /** Under which what the words are about is claimed: what stays open gets its next question. */
  readonly claimToken: string | null;
  /** The rest of the transaction, before the ledger: a balance is the one row that everybody needs, so it comes last. */
  readonly conclude: (results: readonly WordResult[]) => Promise<void>;
}

/** Makes of words what follows from them, all in the caller's transaction. */
export type ApplyWords<Standing> = (
  tx: Tx,
  words: readonly Word<Standing>[],
  options: ApplyOptions,
) => Promise<unknown>;
