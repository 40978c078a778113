import type { CreatedSpan } from '../db/keyset.ts';
import type { Cents } from '../kit/money.ts';
import type { Account, CauseKind, OwnAccount } from './transfer.ts';

/** A transfer as its organization sees it. */
export interface Entry {
  readonly id: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: Cents;
  readonly causeKind: CauseKind;
  readonly resourceId: string | null;
  readonly at: Date;
}

export interface EntryFilters extends CreatedSpan {
  /** Only transfers that debit or credit this account. */
  readonly account?: OwnAccount | undefined;
}
