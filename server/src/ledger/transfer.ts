import type { Actor } from '../kit/actor.ts';
import type { Cents } from '../kit/money.ts';

/** The organization's own accounts. Each has a balance row, which never goes below zero. */
export const OWN_ACCOUNTS = ['pending', 'available', 'held'] as const;
/** The operator's accounts. They have no balance row, which would be a contended lock: transfers are summed instead. */
export const SHARED_ACCOUNTS = ['clearing_bre_b', 'clearing_pse', 'fees', 'suspense', 'treasury'] as const;

export type OwnAccount = (typeof OWN_ACCOUNTS)[number];
export type SharedAccount = (typeof SHARED_ACCOUNTS)[number];
export type Account = OwnAccount | SharedAccount;

export function isOwnAccount(account: Account): account is OwnAccount {
  return OWN_ACCOUNTS.some((each) => each === account);
}

/** Why money moved. Each cause is posted at most once. */
export type CauseKind =
  | 'payment'
  /** The part of a payment above the amount of a payin or payment link, in the same execution. */
  | 'payment_excess'
  /** An operator reversed a payment that its rail does not list. */
  | 'payment_reversal'
  /** The rail lists a reversed payment after all. */
  | 'payment_relisted'
  /** The earlier parts of a payment link, moved to the merchant when the link completes; the cause id is the link's. */
  | 'link_parts'
  | 'settlement'
  | 'deposit'
  | 'anomaly'
  | 'payout_hold'
  | 'payout_release'
  | 'payout'
  /** Money that a rail sent and that no payout accounts for. */
  | 'execution'
  /** An operator reversed a posting; the cause id is the id of the reversed transfer. */
  | 'reversal';

/** A credit increases an account and a debit decreases it. Immutable: a mistake is corrected by another transfer. */
export interface Transfer {
  /** UUIDv7: its time selects the monthly partition. */
  readonly id: string;
  /** The organization it belongs to, even when both accounts are the operator's. */
  readonly organizationId: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: Cents;
  readonly cause: { readonly kind: CauseKind; readonly id: string };
  /** The payin, payout, settlement or anomaly it belongs to; for a reversal the reversed transfer. */
  readonly resourceId: string | null;
  /** Who caused the posting. */
  readonly createdBy: Actor;
}

/** The clearing account of each rail. */
export const CLEARING: Readonly<Record<'BRE_B' | 'PSE', SharedAccount>> = {
  BRE_B: 'clearing_bre_b',
  PSE: 'clearing_pse',
};
