import type { ClockDifference } from '../kit/http-probe.ts';
import type { Cents } from '../kit/money.ts';

/** Supported rails. To add one: extend this list, the check constraint of `payins`, and create its folder. */
export const RAILS = ['BRE_B', 'PSE'] as const;
export type Rail = (typeof RAILS)[number];

/** Why a payin or payout ended without money, as shown to the merchant in `errorCode`. */
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

/** The answer of a rail to a call about one item. */
export type RailAnswer<T> =
  | { readonly kind: 'yes'; readonly value: T }
  | RailRejection
  | RailDeferral
  | {
      /**
       * A timeout, a lost connection or an unreadable response: the caller resolves it by querying the same reference, and
       * must never treat it as `no`.
       */
      readonly kind: 'unknown';
      readonly cause: string;
      /** Whether the rail may have received the request. False only when it certainly did not. */
      readonly sent: boolean;
    };

/** The rail rejected the item, and repeating the call does not change that. */
interface RailRejection {
  readonly kind: 'no';
  readonly errorCode: RailErrorCode;
  readonly railCode: string;
  /** Whether the reason concerns this connection only, so that another one may accept the same item. */
  readonly elsewhere: boolean;
}

/** The rail certainly did nothing, and may accept the item later: a rate limit, or our balance at the provider is too low. */
interface RailDeferral {
  readonly kind: 'not_now';
  readonly cause: string;
  /** Null: the rail did not say when. */
  readonly retryAfterMs: number | null;
}

/** Whether the call certainly had no effect at the rail, so that the item may be tried again, also on another connection. */
export function isWithoutEffect(answer: RailAnswer<unknown>): boolean {
  return answer.kind === 'not_now' || (answer.kind === 'unknown' && !answer.sent);
}

/** The rail received the request, and its response does not decide about the item. */
export function unanswered(cause: string): RailAnswer<never> {
  return { kind: 'unknown', cause, sent: true };
}

/** Why a call gave no value, for operators and logs. */
export function failureCause(answer: Exclude<RailAnswer<unknown>, { kind: 'yes' }>): string {
  return answer.kind === 'no' ? answer.railCode : answer.cause;
}

export interface Payer {
  readonly name: string;
  readonly idType: string;
  readonly idNumber: string;
  readonly phone: string;
  readonly email: string;
}

/** A collection to open at the rail: a key to register or a bank transaction to create. */
export interface CollectOrder {
  /** Our reference, committed before the first call and never changed: the rail's idempotency key. */
  readonly reference: string;
  readonly payinId: string;
  readonly amount: Cents;
  readonly expiresAt: Date;
  readonly description: string;
  readonly payer: Payer | null;
  /** PSE only. */
  readonly bank: { readonly code: string; readonly business: boolean; readonly returnUrl: string } | null;
}

export interface OpenedCollection {
  readonly reference: string;
  /** The rail's payment page, on rails that have one. */
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
  /** Null when the rail does not report the time. */
  readonly at: Date | null;
}

/** The status of a collection at the rail. */
export interface CollectionStatus {
  readonly reference: string;
  readonly state: 'open' | 'closed' | 'paid' | 'declined' | 'not_found';
  readonly payments: readonly Payment[];
  readonly opened: OpenedCollection | null;
  readonly errorCode: RailErrorCode | null;
}

/** News about a payin or payout: a notification of the rail, or, `refused`, the rail's rejection of our order. */
export type RailNotification =
  | PaidMessage
  | { readonly kind: 'declined' | 'refused'; readonly errorCode: RailErrorCode };

/** A rail's notification that money moved. */
export type PaidMessage = { readonly kind: 'paid' } & Pick<Payment, 'executionId' | 'endToEndId' | 'amount'>;

/** A notification sent by a rail. Its signature is verified; its content is not. */
export interface RailNotice {
  /** The rail's id of the notification. */
  readonly noticeId: string;
  readonly about: 'payin' | 'payout';
  /** The collection reference of a payin, or the end-to-end id of a payout, for which `paid` means money sent. */
  readonly reference: string;
  readonly update: PaidMessage | { readonly kind: 'declined'; readonly errorCode: RailErrorCode };
}

/** An order to send money. */
export interface PayOrder {
  /** Committed before the first send and never changed: the rail executes one order per id. */
  readonly endToEndId: string;
  readonly payoutId: string;
  readonly amount: Cents;
  /** The receiver's Bre-B key, as normalized by `readKey`. */
  readonly key: string;
  /** The directory resolution of the key; the rail rejects the order when the holder has changed since. */
  readonly resolutionId: string | null;
  /** The party on whose behalf the money is sent. */
  readonly payerName: string;
}

/** The status of an order at the rail. */
export interface OrderStatus {
  readonly endToEndId: string;
  readonly state: 'processing' | 'settled' | 'rejected' | 'not_found';
  /** With `settled`. */
  readonly executionId: string | null;
  readonly amount: Cents | null;
  /** With `rejected`. */
  readonly errorCode: RailErrorCode | null;
}

/** A page of what a rail lists, oldest first; `next` is null on the last page. */
export interface RailPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** An order as the rail lists it: also orders that this service no longer knows. */
export interface ListedOrder extends OrderStatus {
  readonly state: 'processing' | 'settled' | 'rejected';
  /** The amount that was ordered. */
  readonly amount: Cents;
  /** The receiver's key. Personal data. */
  readonly key: string;
  readonly orderedAt: Date;
}

/** A payment received for a collection, as the rail lists it. */
export interface ListedPayment {
  readonly reference: string;
  readonly executionId: string;
  readonly amount: Cents;
  readonly at: Date;
}

/** Lists what a rail did since a time, page by page. Rails without such a list have none. */
export type ListSince<Item> = (since: Date, cursor: string | null) => Promise<RailAnswer<RailPage<Item>>>;

export const RECEIVER_KEY_TYPES = ['ID', 'PHONE', 'EMAIL', 'ALPHANUMERIC', 'MERCHANT_CODE'] as const;
export type ReceiverKeyType = (typeof RECEIVER_KEY_TYPES)[number];

/** The directory's data about the holder of a key. Personal data: mask it before it leaves the service. */
export interface Resolution {
  readonly resolutionId: string;
  readonly name: string;
  readonly documentType: string;
  readonly documentNumber: string;
  readonly bankName: string;
  readonly accountNumber: string;
}

/** The capabilities of a rail for payouts. */
export interface PayoutCapabilities {
  readonly rail: Rail;
  readonly maxPayBatch: number;
  readonly maxStatusBatch: number;
  /**
   * The rail rejects a second order under the same end-to-end id, so resending is safe. A connection setting, because only
   * the provider's documentation can guarantee it.
   */
  readonly rejectsDuplicateOrders: boolean;
  /**
   * After this time since the last possible send, the answer `not_found` is conclusive. A connection setting.
   */
  readonly maxProcessingMs: number;
  /** How long a directory resolution is valid for orders. */
  readonly resolutionMs: number;
}

export interface PayoutConnector {
  readonly capabilities: PayoutCapabilities;
  /**
   * Sends orders; answers in the same order. `yes`: the rail has the order, now or from an earlier call, and reports its
   * result later. `no`: the rail rejected the order, and this call had no effect.
   */
  pay(orders: readonly PayOrder[]): Promise<readonly RailAnswer<'accepted' | 'duplicate'>[]>;
  queryOrders(endToEndIds: readonly string[]): Promise<readonly RailAnswer<OrderStatus>[]>;
  /** Looks up the holder of a key. `no`: the directory states that money cannot be sent to it. */
  resolve(key: string): Promise<RailAnswer<Resolution>>;
  /** Lists the orders received or ended since a time, for the comparison after a restore; null on a rail without a list. */
  readonly listOrders: ListSince<ListedOrder> | null;
}

/** A bank offered by the rail, with the rail's code and name. */
export interface RailBank {
  readonly networkCode: string;
  readonly name: string;
}

/** The capabilities of a rail, so that flows do not branch on the rail's name. */
export interface Capabilities {
  readonly rail: Rail;
  /** Maximum orders per call. */
  readonly maxOpenBatch: number;
  readonly maxStatusBatch: number;
  /** Zero: we cannot close collections on this rail. */
  readonly maxCloseBatch: number;
  /** The payer cannot proceed without the rail's answer, so the creation waits briefly for it. */
  readonly opensWhilePayerWaits: boolean;
  /** An order requires the payer's data. */
  readonly needsPayer: boolean;
  /** Timeout of a call; after it the outcome is unknown. */
  readonly answerWithinMs: number;
  /** After this time since the last possible send, the status `not_found` is conclusive. A connection setting. */
  readonly maxProcessingMs: number;
  /** Bounds of one payment, from the network's rules. Connection settings, because they change every year. */
  readonly minAmount: Cents;
  readonly maxAmount: Cents;
}

export interface RailConnector {
  readonly capabilities: Capabilities;
  /** Opens collections; answers in the same order. Idempotent by `reference`. */
  open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<OpenedCollection>[]>;
  queryStatus(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]>;
  /** Closes collections permanently, including unknown ones. Answers with the status of each after closing. */
  close(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]>;
  /** Lists the banks the rail currently offers; null on a rail without bank selection. */
  readonly banks: (() => Promise<RailAnswer<readonly RailBank[]>>) | null;
  /** Lists the payments received since a time, for the comparison after a restore; null on a rail without a list. */
  readonly listPayments: ListSince<ListedPayment> | null;
  /** Closes the connections to the rail. */
  disconnect(): Promise<void>;
}

/** The result of a read-only call with our credentials, to check that the rail is reachable. */
export type RailProbe =
  | { readonly kind: 'answers'; readonly ms: number; readonly ahead: ClockDifference | null }
  | { readonly kind: 'unauthorized'; readonly status: number; readonly ahead: ClockDifference | null }
  | { readonly kind: 'unavailable'; readonly cause: string; readonly ahead: ClockDifference | null };
