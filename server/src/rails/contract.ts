import type { ClockDifference } from '../kit/http-probe.ts';
import type { Cents } from '../kit/money.ts';

/** Rails we know. A rail is added here, in its own folder, and in the check constraint of `payins`. */
export const RAILS = ['BRE_B', 'PSE'] as const;
export type Rail = (typeof RAILS)[number];

/** The reasons a payin or payout ends without money, as the merchant sees them in `errorCode`. */
export const ERROR_CODES = [
  'EXPIRED',
  'PAYER_CANCELED',
  'PAYER_ABANDONED',
  'INSUFFICIENT_FUNDS',
  'LIMIT_EXCEEDED',
  'NETWORK_LIMIT_EXCEEDED',
  'ACCOUNT_BLOCKED',
  'ACCOUNT_NOT_FOUND',
  'ACCOUNT_CLOSED',
  'KEY_NOT_FOUND',
  'KEY_SUSPENDED',
  'KEY_INVALID',
  'RECEIVER_MISMATCH',
  'BANK_UNAVAILABLE',
  'RAIL_TIMEOUT',
  'RAIL_REJECTED',
  'SUSPECTED_FRAUD',
  'INVALID_DATA',
] as const;
export type RailErrorCode = (typeof ERROR_CODES)[number];

/**
 * What a rail said. A timeout, a lost connection or an answer we cannot read is `unknown`: it is resolved by asking
 * again under the same reference, and never becomes a `no` by itself.
 */
export type RailAnswer<T> =
  | { readonly kind: 'yes'; readonly value: T }
  | { readonly kind: 'no'; readonly errorCode: RailErrorCode; readonly railCode: string }
  | { readonly kind: 'unknown'; readonly cause: string };

export interface Payer {
  readonly name: string;
  readonly idType: string;
  readonly idNumber: string;
  readonly phone: string;
  readonly email: string;
}

/** A collection to be opened at the rail: a key to register or a bank transaction to create. */
export interface CollectOrder {
  /** Ours, committed before the first call and never changed; the rail is idempotent by it. */
  readonly reference: string;
  readonly payinId: string;
  readonly amount: Cents;
  readonly expiresAt: Date;
  readonly description: string;
  readonly payer: Payer | null;
  /** PSE only. */
  readonly bank: { readonly code: string; readonly business: boolean; readonly returnUrl: string } | null;
}

export interface Opened {
  readonly reference: string;
  /** Where the payer goes, on rails that have a page of their own. */
  readonly pageUrl: string | null;
  readonly transactionId: string | null;
  /** PSE's CUS. */
  readonly traceId: string | null;
}

export interface Payment {
  readonly executionId: string;
  /** The network's own id of the payment, where the rail reports one. */
  readonly endToEndId?: string | undefined;
  readonly amount: Cents;
  /** When the rail says it happened; not every rail says. */
  readonly at: Date | null;
}

/** How a collection stands at the rail. */
export interface CollectionStatus {
  readonly reference: string;
  readonly state: 'open' | 'closed' | 'paid' | 'declined' | 'not_found';
  readonly payments: readonly Payment[];
  readonly opened: Opened | null;
  readonly errorCode: RailErrorCode | null;
}

/** What is heard of a payin or payout: told by the rail itself, or, `refused`, its answer to an order of ours. */
export type RailNotification =
  | PaidMessage
  | { readonly kind: 'declined' | 'refused'; readonly errorCode: RailErrorCode };

/** A rail's message that money moved. */
export type PaidMessage = { readonly kind: 'paid' } & Pick<Payment, 'executionId' | 'endToEndId' | 'amount'>;

/** What a rail tells us by itself. Its signature has been checked; whether it is right has not. */
export interface RailNotice {
  /** The rail's own number of it. */
  readonly noticeId: string;
  readonly about: 'payin' | 'payout';
  /** Of a payin its collection's; of a payout its end-to-end id. `paid` is then money that went out. */
  readonly reference: string;
  readonly update: PaidMessage | { readonly kind: 'declined'; readonly errorCode: RailErrorCode };
}

/** Money to be sent. */
export interface PayOrder {
  /** The end-to-end id: committed before the first send and never changed. The rail executes one order by it. */
  readonly endToEndId: string;
  readonly payoutId: string;
  readonly amount: Cents;
  /** The receiver's key, as `readKey` writes it. */
  readonly key: string;
  /** What the directory promised about the key; the rail refuses the order when its holder has changed since. */
  readonly resolutionId: string | null;
  /** On whose behalf it is paid. */
  readonly payerName: string;
}

/** How an order stands at the rail. */
export interface OrderStatus {
  readonly endToEndId: string;
  readonly state: 'processing' | 'settled' | 'rejected' | 'not_found';
  /** With `settled`. */
  readonly executionId: string | null;
  readonly amount: Cents | null;
  /** With `rejected`. */
  readonly errorCode: RailErrorCode | null;
}

export const RECEIVER_KEY_TYPES = ['ID', 'PHONE', 'EMAIL', 'ALPHANUMERIC', 'MERCHANT_CODE'] as const;
export type ReceiverKeyType = (typeof RECEIVER_KEY_TYPES)[number];

/** Whom a key leads to, by the directory. Personal data: it is masked before anybody outside sees it. */
export interface Resolution {
  readonly resolutionId: string;
  readonly name: string;
  readonly documentType: string;
  readonly documentNumber: string;
  readonly bankName: string;
  readonly accountNumber: string;
}

/** What a rail that sends money can do, as data. */
export interface PayoutCapabilities {
  readonly rail: Rail;
  readonly maxPayBatch: number;
  readonly maxStatusBatch: number;
  /**
   * The rail rejects a second order under the same end-to-end id, so sending one again is safe. A setting of the
   * connection: only the provider's own documentation can say so.
   */
  readonly rejectsDuplicateOrders: boolean;
  /**
   * After this, counted from the last moment an order can have left, "no such order" can be believed. A setting of the
   * connection, too.
   */
  readonly maxProcessingMs: number;
  /** For how long what the directory promised about a key is honoured by an order. */
  readonly resolutionMs: number;
}

export interface PayoutConnector {
  readonly capabilities: PayoutCapabilities;
  /**
   * Sends orders; answers in their order. Yes: the rail has it (also when it had it before), and what comes of it is
   * told later. No: it was refused and nothing was made of this call.
   */
  pay(orders: readonly PayOrder[]): Promise<readonly RailAnswer<'accepted' | 'duplicate'>[]>;
  queryOrders(endToEndIds: readonly string[]): Promise<readonly RailAnswer<OrderStatus>[]>;
  /** Whom a key leads to. No: the directory's clear word that money cannot be sent to it. */
  resolve(key: string): Promise<RailAnswer<Resolution>>;
}

/** A bank the rail offers, as the rail calls it. */
export interface RailBank {
  readonly networkCode: string;
  readonly name: string;
}

/** What a rail can do, as data: flows decide by it instead of by the rail's name. */
export interface Capabilities {
  readonly rail: Rail;
  /** Most orders in one call. One means the rail takes them one by one. */
  readonly maxOpenBatch: number;
  readonly maxStatusBatch: number;
  /** Zero: this rail's collections cannot be closed by us. */
  readonly maxCloseBatch: number;
  /** The payer needs the rail's answer before anything can be shown, so creation waits for it a moment. */
  readonly opensWhilePayerWaits: boolean;
  /** An order needs to know who pays. */
  readonly needsPayer: boolean;
  /** Longest a call may take before its outcome counts as unknown. */
  readonly answerWithinMs: number;
  /** After this "no such order" can be believed. A setting of the connection. */
  readonly maxProcessingMs: number;
}

export interface RailConnector {
  readonly capabilities: Capabilities;
  /** Opens collections; answers in the order of the orders. Idempotent by `reference`. */
  open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<Opened>[]>;
  ask(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]>;
  /** Closes collections for ever, also those the rail has not heard of. Answers how each stands after closing. */
  close(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]>;
  /** The banks it offers today; null on a rail where the payer chooses none. */
  readonly banks: (() => Promise<RailAnswer<readonly RailBank[]>>) | null;
}

/** What one harmless question with our credentials shows of a rail: for whoever looks whether it is there. */
export type RailProbe =
  | { readonly kind: 'answers'; readonly ms: number; readonly ahead: ClockDifference | null }
  | { readonly kind: 'unauthorized'; readonly status: number; readonly ahead: ClockDifference | null }
  | { readonly kind: 'unavailable'; readonly cause: string; readonly ahead: ClockDifference | null };
