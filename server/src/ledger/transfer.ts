import type { Cents } from '../kit/money.ts';

/** The organization's own accounts. Each keeps a balance, and none goes below zero. */
export const OWN_ACCOUNTS = ['pending', 'available', 'held'] as const;
/** The house's. None keeps a balance, so that workers do not queue for one row: they are summed from transfers. */
export const SHARED_ACCOUNTS = ['clearing_bre_b', 'clearing_pse', 'fees', 'suspense', 'treasury'] as const;

export type OwnAccount = (typeof OWN_ACCOUNTS)[number];
export type SharedAccount = (typeof SHARED_ACCOUNTS)[number];
export type Account = OwnAccount | SharedAccount;

export function isOwnAccount(account: Account): account is OwnAccount {
  return OWN_ACCOUNTS.some((each) => each === account);
}

/** Why money moved. A cause moves money once, for ever. */
export type CauseKind =
  | 'payment'
  /** What arrived beyond the amount of a payin or payment link, in the same execution. */
  | 'payment_excess'
  /** The booking of a payment that its rail does not list, taken back by an operator. */
  | 'payment_reversal'
  /** A reversed payment that its rail lists after all. */
  | 'payment_relisted'
  | 'settlement'
  | 'deposit'
  | 'anomaly'
  | 'payout_hold'
  | 'payout_release'
  | 'payout'
  /** Money that a rail sent and that no payout answers for. */
  | 'execution'
  /** An operator undid a booking; its id is that of the reversed transfer. */
  | 'reversal';

/** A credit raises an account and a debit lowers it. Never changed: a mistake is corrected by another transfer. */
export interface Transfer {
  /** UUIDv7: its time says in which month it is kept. */
  readonly id: string;
  /** Whose business it is, also where both accounts are the house's. */
  readonly organizationId: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: Cents;
  readonly cause: { readonly kind: CauseKind; readonly id: string };
  /** The payin, payout, settlement or anomaly it is about; of a reversal the reversed transfer. */
  readonly resourceId: string | null;
}

/** Where the money of each rail comes from, and where it leaves. */
export const CLEARING: Readonly<Record<'BRE_B' | 'PSE', SharedAccount>> = {
  BRE_B: 'clearing_bre_b',
  PSE: 'clearing_pse',
};
