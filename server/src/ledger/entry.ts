import type { Cents } from '../kit/money.ts';
import type { Account, CauseKind, OwnAccount } from './transfer.ts';

/** A transfer as the organization whose money it moved sees it. */
export interface Entry {
  readonly id: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: Cents;
  readonly causeKind: CauseKind;
  readonly resourceId: string | null;
  readonly at: Date;
}

export interface EntryFilters {
  /** Money that left or reached this account. */
  readonly account?: OwnAccount | undefined;
  /** Booked at or after. */
  readonly createdFrom?: Date | undefined;
  /** Booked before. */
  readonly createdTo?: Date | undefined;
}
