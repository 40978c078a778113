import { type Cents, cents } from '../kit/money.ts';
import type { CollectionStatus, Payment, RailErrorCode, RailNotification } from '../rails/contract.ts';
import { isFinal, type PayinStatus } from './payin.states.ts';
import type { PayinErrorCode } from './payin.ts';

/** Which amounts confirm a direct payin: only the requested amount, or any amount. */
export type AmountPolicy = 'EXACT' | 'ANY';

/** Why a payin changes, as recorded in its history. */
type TransitionReason =
  | 'paid_on_notification'
  | 'paid_on_poll'
  | 'underpaid'
  | 'declined_by_rail'
  | 'order_refused'
  | 'canceled_by_payer'
  | 'expired_unpaid'
  | 'expired_never_sent'
  | 'ended_by_operator';

export interface Transition {
  readonly to: 'CONFIRMED' | 'DECLINED' | 'CANCELED';
  readonly confirmedAmount: Cents | null;
  /** The network's id of the deciding payment. */
  readonly endToEndId?: string | undefined;
  readonly errorCode: PayinErrorCode | null;
  /** Whether the received money settles to the merchant. */
  readonly settles: boolean;
  /** What earlier attempts of the link received, which settles together with this payin; null without such attempts. */
  readonly earlierParts: Cents | null;
  readonly payment: TransitionPayment | null;
  readonly cause: TransitionReason;
}

interface TransitionPayment {
  readonly executionId: string;
  /** Whether a queried status lists the payment. A notification alone confirms a payin, but does not let it settle. */
  readonly verified: boolean;
}

/** Received money and its account: the merchant's pending balance, or suspense when an operator must resolve an anomaly. */
export interface Posting {
  readonly executionId: string;
  readonly amount: Cents;
  readonly into: 'pending' | 'suspense';
  /** The part of an execution that exceeds the requested amount. */
  readonly excess?: true;
}

export interface DetectedAnomaly {
  readonly kind:
    | 'paid_late'
    | 'paid_again'
    | 'underpaid'
    | 'overpaid'
    | 'unmatched'
    | 'contradiction'
    | 'unconfirmed'
    | 'payment_not_listed';
  readonly executionId: string | null;
  /** The amount in suspense; null when no money was received. */
  readonly amount: Cents | null;
}

export interface Decision {
  readonly transition: Transition | null;
  readonly postings: readonly Posting[];
  readonly anomalies: readonly DetectedAnomaly[];
  /** The rail lists the payment that confirmed the payin: its money may settle. */
  readonly verifies: boolean;
  /** The network's id of the verified payment, when the rail lists one. */
  readonly endToEndId?: string | undefined;
}

/** The payment of a CONFIRMED payin that only a notification has reported so far. */
interface UnverifiedPayment {
  /** Null when an earlier version confirmed the payin. */
  readonly executionId: string | null;
  readonly amount: Cents;
  /** The rail's processing time has passed: a status that does not list the payment is conclusive. */
  readonly pastProcessingTime: boolean;
}

/** The state of a payin that its outcome depends on. */
export interface OutcomeInput {
  readonly status: PayinStatus;
  readonly amount: Cents;
  /** By the database clock. */
  readonly expired: boolean;
  /** The rail never acknowledged the collection, and its maximum processing time has passed since the last order, if any. */
  readonly noOrderInFlight: boolean;
  /** Whether the rail has acknowledged the collection. */
  readonly opened: boolean;
  /** The payment link this payin is an attempt of; null for a direct payin. */
  readonly link: LinkSum | 'ended' | null;
  /** The organization's policy; it applies to direct payins only. */
  readonly amountPolicy: AmountPolicy;
  /** Null when the payin is not CONFIRMED, or its payment is verified, released or reversed. */
  readonly unverified: UnverifiedPayment | null;
  /** An operator reversed the payment: a payment that the rail lists now counts as late. */
  readonly reversed: boolean;
  /** An operator ends the payin if the rail lists no payment for it, because the rail itself never ends it. */
  readonly operatorEnds?: boolean;
}

/** What the attempts of a link that is not completed yet have received, and what is missing to its amount. */
export interface LinkSum {
  readonly paid: Cents;
  readonly missing: Cents;
}

const NOTHING: Decision = { transition: null, postings: [], anomalies: [], verifies: false };

/**
 * Decides from an unverified notification. Only the expected one is applied directly: the exact amount for an open payin.
 * The payment that completes a link with earlier parts must be verified, because those parts settle with it.
 * Everything else (another amount, an end without money, money for a final or unknown payin) is `needs_verification`: the
 * rail is polled, and its status decides. A notification confirms the payin, but the payin settles only after a queried
 * status lists the payment.
 * @param isPosted whether the execution is already in the ledger
 * @param isReversed whether an operator reversed the posting of the execution, and no status has listed it since
 */
export function decideFromNotification(
  payin: OutcomeInput | null,
  notification: RailNotification,
  isPosted: (executionId: string) => boolean,
  isReversed: (executionId: string) => boolean,
): Decision | 'duplicate' | 'needs_verification' {
  if (notification.kind === 'paid') {
    if (isPosted(notification.executionId)) return 'duplicate';
    // The rail did not list this execution before. Another notification proves nothing; only a status does.
    if (isReversed(notification.executionId)) return 'needs_verification';
    if (payin === null || isFinal(payin.status) || notification.amount !== payin.amount)
      return 'needs_verification';
    // The money would go to suspense, where an operator may credit it. That requires a status that lists it.
    if (payin.link === 'ended') return 'needs_verification';
    if (payin.link !== null && (payin.link.paid > 0n || payin.link.missing !== notification.amount))
      return 'needs_verification';
    return received(payin, notification, 'paid_on_notification');
  }
  if (payin === null) return 'needs_verification';
  if (payin.status === 'CONFIRMED')
    return notification.kind === 'refused' ? 'duplicate' : { ...NOTHING, anomalies: [contradiction()] };
  if (isFinal(payin.status)) return 'duplicate';
  // After the expiry, a rejection may be caused by our own close call, so the rail is polled as for any other end.
  const refused = notification.kind === 'refused' && !payin.expired;
  return refused
    ? { ...NOTHING, transition: ended(notification.errorCode, 'order_refused') }
    : 'needs_verification';
}

/**
 * Decides from a queried status, which is authoritative. Each payment is posted once. The amount of one payment decides an
 * open payin; all other payments go to suspense.
 * @param notification the notification that led to the query, if any
 */
export function decideFromStatus(
  payin: OutcomeInput | null,
  railStatus: Pick<CollectionStatus, 'state' | 'payments' | 'errorCode'>,
  isPosted: (executionId: string) => boolean,
  notification: RailNotification | null,
): Decision {
  const fresh = distinct(railStatus.payments).filter((payment) => !isPosted(payment.executionId));
  const [first, ...rest] = payin !== null && !isFinal(payin.status) ? byPriority(payin, fresh) : [];
  const unexpected = first === undefined ? fresh : rest;
  const base =
    payin !== null && first !== undefined
      ? received(payin, first, 'paid_on_poll')
      : { ...NOTHING, transition: endWithoutMoney(payin, railStatus) };
  const status = base.transition?.to ?? payin?.status ?? null;
  const verification = payin?.unverified ? verify(payin.unverified, railStatus.payments, isPosted) : null;
  return {
    transition: base.transition,
    postings: [...base.postings, ...unexpected.map((payment) => posting(payment, 'suspense'))],
    anomalies: [
      ...base.anomalies,
      ...unexpected.map((payment) => unexpectedPayment(payment, status, payin?.reversed ?? false)),
      ...unconfirmedNotification(status, railStatus, notification),
      ...(payin !== null && base.transition === null ? stuck(payin, railStatus) : []),
      ...(payin?.unverified && verification === 'not_listed' ? [notListed(payin.unverified)] : []),
    ],
    verifies: typeof verification === 'object' && verification !== null,
    endToEndId: typeof verification === 'object' ? verification?.endToEndId : undefined,
  };
}

/**
 * Looks up the payment that confirmed the payin in the queried status. The listed amount counts: another amount under the
 * same execution is not the payment that was posted, and waiting does not change it.
 */
function verify(
  { executionId, amount, pastProcessingTime }: UnverifiedPayment,
  payments: readonly Payment[],
  isPosted: (executionId: string) => boolean,
): Payment | 'not_listed' | null {
  const same = payments.filter((payment) =>
    executionId === null ? isPosted(payment.executionId) : payment.executionId === executionId,
  );
  const listed = same.find((payment) => payment.amount === amount);
  if (listed) return listed;
  return same.length > 0 || pastProcessingTime ? 'not_listed' : null;
}

/**
 * Whether a queried status confirms a notification. If not, the status may just be older: a rail's status can lag behind
 * its notifications.
 */
export function isConfirmedBy(
  payin: OutcomeInput | null,
  { state, payments }: Pick<CollectionStatus, 'state' | 'payments'>,
  notification: RailNotification,
): boolean {
  if (notification.kind === 'paid')
    return payments.some((payment) => payment.executionId === notification.executionId);
  return payments.length > 0 || (payin !== null && (state !== 'open' || isFinal(payin.status)));
}

/** Detects a status that would leave the payin open indefinitely. An operator must look; polling continues. */
function stuck(
  payin: OutcomeInput,
  { state, payments }: Pick<CollectionStatus, 'state' | 'payments'>,
): DetectedAnomaly[] {
  if (isFinal(payin.status)) return [];
  const [posted] = payments;
  // The payment is posted to another payin: a notification named the wrong collection.
  if (posted) return [{ kind: 'contradiction', executionId: posted.executionId, amount: null }];
  return state === 'not_found' && payin.opened && payin.expired ? [contradiction()] : [];
}

function distinct(payments: readonly Payment[]): Payment[] {
  return [...new Map(payments.map((payment) => [payment.executionId, payment])).values()];
}

/**
 * Only a conclusive status ends an open payin without money. Payments listed here are all posted, and to other payins,
 * because an open payin has none: only an operator can end such a payin.
 */
function endWithoutMoney(
  payin: OutcomeInput | null,
  { state, payments, errorCode }: Pick<CollectionStatus, 'state' | 'payments' | 'errorCode'>,
): Transition | null {
  if (payin === null || isFinal(payin.status)) return null;
  if (payments.length > 0)
    return payin.operatorEnds && payin.expired ? ended('EXPIRED', 'ended_by_operator') : null;
  if (state === 'declined') return ended(errorCode ?? 'RAIL_REJECTED', 'declined_by_rail');
  if (!payin.expired) return null;
  if (state === 'closed') return ended('EXPIRED', 'expired_unpaid');
  if (state === 'not_found' && payin.noOrderInFlight) return ended('EXPIRED', 'expired_never_sent');
  return payin.operatorEnds ? ended('EXPIRED', 'ended_by_operator') : null;
}

const PAYER_ERROR_CODES: ReadonlySet<PayinErrorCode> = new Set<PayinErrorCode>([
  'PAYER_CANCELED',
  'PAYER_ABANDONED',
  'EXPIRED',
]);

/** Whether the payer ended the payin or let it expire: its final state is CANCELED. */
export function isPayerErrorCode(errorCode: PayinErrorCode): boolean {
  return PAYER_ERROR_CODES.has(errorCode);
}

function ended(errorCode: RailErrorCode, cause: TransitionReason): Transition {
  const canceled = isPayerErrorCode(errorCode);
  return {
    to: canceled ? 'CANCELED' : 'DECLINED',
    confirmedAmount: null,
    errorCode,
    settles: false,
    earlierParts: null,
    payment: null,
    cause: canceled && cause === 'declined_by_rail' ? 'canceled_by_payer' : cause,
  };
}

/**
 * Applies the deciding payment to an open payin. A direct payin requests an exact amount, a payment link what is missing to
 * its amount: an excess, an underpayment, and money for an ended link go to suspense. Only with the `ANY` policy is a direct
 * payin confirmed with the received amount.
 */
function received(
  payin: OutcomeInput,
  payment: Pick<Payment, 'executionId' | 'endToEndId' | 'amount'>,
  cause: TransitionReason,
): Decision {
  const { executionId, endToEndId, amount } = payment;
  const transition = {
    to: 'CONFIRMED',
    confirmedAmount: amount,
    endToEndId,
    errorCode: null,
    settles: true,
    earlierParts: typeof payin.link === 'object' && payin.link?.paid ? payin.link.paid : null,
    payment: { executionId, verified: cause !== 'paid_on_notification' },
    cause,
  } as const;
  const inSuspense = { ...NOTHING, postings: [posting(payment, 'suspense')] };
  if (payin.link === 'ended')
    return {
      ...inSuspense,
      transition: { ...transition, settles: false },
      anomalies: [{ kind: 'paid_again', executionId, amount }],
    };
  const requested = requestedAmount(payin);
  if (amount === requested || (payin.link === null && payin.amountPolicy === 'ANY'))
    return { ...NOTHING, transition, postings: [posting(payment, 'pending')] };
  if (amount < requested)
    return {
      ...inSuspense,
      transition: underpaid(payment),
      // The money waits for the other parts of the link. If the link expires first, it becomes an anomaly then.
      anomalies: payin.link === null ? [{ kind: 'underpaid', executionId, amount }] : [],
    };
  const excess = cents(amount - requested);
  return {
    ...NOTHING,
    transition: { ...transition, confirmedAmount: requested },
    postings: [
      { executionId, amount: requested, into: 'pending' },
      { executionId, amount: excess, into: 'suspense', excess: true },
    ],
    anomalies: [{ kind: 'overpaid', executionId, amount: excess }],
  };
}

/** The amount that confirms an open payin: for an attempt of a link, what is missing now. */
function requestedAmount({ amount, link }: OutcomeInput): Cents {
  return link === null || link === 'ended' ? amount : link.missing;
}

/** DECLINED, because a merchant that checks only the event name must not deliver goods that are underpaid. */
function underpaid({ executionId, amount, endToEndId }: Omit<Payment, 'at'>): Transition {
  return {
    to: 'DECLINED',
    confirmedAmount: amount,
    endToEndId,
    errorCode: 'UNDERPAID',
    settles: false,
    earlierParts: null,
    payment: { executionId, verified: true },
    cause: 'underpaid',
  };
}

function posting(
  { executionId, amount }: { executionId: string; amount: Cents },
  into: Posting['into'],
): Posting {
  return { executionId, amount, into };
}

function unexpectedPayment(
  { executionId, amount }: Payment,
  status: PayinStatus | null,
  reversed: boolean,
): DetectedAnomaly {
  const kind =
    status === null ? 'unmatched' : status === 'CONFIRMED' && !reversed ? 'paid_again' : 'paid_late';
  return { kind, executionId, amount };
}

function contradiction(): DetectedAnomaly {
  return { kind: 'contradiction', executionId: null, amount: null };
}

function notListed({ executionId }: UnverifiedPayment): DetectedAnomaly {
  return { kind: 'payment_not_listed', executionId, amount: null };
}

/** Detects a notification that the queried status does not confirm. */
function unconfirmedNotification(
  status: PayinStatus | null,
  railStatus: Pick<CollectionStatus, 'payments'>,
  notification: RailNotification | null,
): DetectedAnomaly[] {
  if (notification === null) return [];
  if (notification.kind !== 'paid') {
    if (status === 'CONFIRMED') return [contradiction()];
    return status === null && railStatus.payments.length === 0
      ? [{ kind: 'unmatched', executionId: null, amount: null }]
      : [];
  }
  const { executionId } = notification;
  if (railStatus.payments.some((payment) => payment.executionId === executionId)) return [];
  return [{ kind: status === null ? 'unmatched' : 'unconfirmed', executionId, amount: null }];
}

/**
 * The earliest payment decides; without times, the rail's order counts. A payment of the requested amount comes first,
 * unless the organization takes any amount: an earlier mistake of the payer must not decline the payin.
 */
function byPriority(payin: OutcomeInput, payments: readonly Payment[]): Payment[] {
  const takesAny = payin.link === null && payin.amountPolicy === 'ANY';
  const requested = requestedAmount(payin);
  const rank = ({ amount }: Payment) => (takesAny || amount === requested ? 0 : 1);
  return payments.toSorted((a, b) => rank(a) - rank(b) || (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0));
}
