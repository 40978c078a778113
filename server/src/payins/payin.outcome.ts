import { type Cents, cents } from '../kit/money.ts';
import type { CollectionStatus, Payment, RailErrorCode, RailNotification } from '../rails/contract.ts';
import { isFinal, type PayinStatus } from './payin.states.ts';
import type { PayinErrorCode } from './payin.ts';

/** Which amounts confirm a direct payin: only the requested one, or whatever arrives. */
export type AmountPolicy = 'EXACT' | 'ANY';

/** Why a payin changes, as its history says it. */
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
  /** The network's id of the payment that decided. */
  readonly endToEndId?: string | undefined;
  readonly errorCode: PayinErrorCode | null;
  /** Whether what came becomes the merchant's by and by. */
  readonly settles: boolean;
  /** The payment that confirms it. */
  readonly payment: TransitionPayment | null;
  readonly cause: TransitionReason;
}

interface TransitionPayment {
  readonly executionId: string;
  /** Whether a status that we queried lists it. A notification alone confirms a payin, but settles nothing. */
  readonly verified: boolean;
}

/** Money that came, and where it goes: to the merchant, or to suspense because of an detectedAnomaly an operator must see. */
export interface Posting {
  readonly executionId: string;
  readonly amount: Cents;
  readonly into: 'pending' | 'suspense';
  /** What came in the same execution beyond the amount. */
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
  /** In suspense; null when no money came with it. */
  readonly amount: Cents | null;
}

export interface Decision {
  readonly move: Transition | null;
  readonly postings: readonly Posting[];
  readonly detectedAnomalies: readonly DetectedAnomaly[];
  /** The rail lists the payment that confirmed the payin: its money may settle. */
  readonly verifies: boolean;
  /** The network's id of the verified payment, when the rail lists one. */
  readonly endToEndId?: string | undefined;
}

/** Of a CONFIRMED payin: the payment that only a notification has reported so far. */
interface UnverifiedPayment {
  /** Null when an earlier version confirmed the payin. */
  readonly executionId: string | null;
  readonly amount: Cents;
  /** The rail, queried now, would list the payment if there were one. */
  readonly pastProcessingTime: boolean;
}

/** A payin as far as its outcome depends on it. */
export interface OutcomeInput {
  readonly status: PayinStatus;
  readonly amount: Cents;
  /** By the database's clock. */
  readonly expired: boolean;
  /** Whether everything that was ever sent to its rail has had the longest time the rail takes, and nothing came of it. */
  readonly nothingUnderWay: boolean;
  /** Whether the rail once said that it has the collection. */
  readonly opened: boolean;
  /** Of the payment link it is an attempt of: whether that still waits for its money. */
  readonly link: 'waiting' | 'ended' | null;
  /** Of its organization; decides about direct payins. */
  readonly amountPolicy: AmountPolicy;
  /** Null when it is not CONFIRMED, or its payment is verified, released or reversed. */
  readonly unverified: UnverifiedPayment | null;
  /** An operator reversed its payment: what the rail lists now came late. */
  readonly reversed: boolean;
  /** An operator ends it when the rail, queried for it, lists no payment: its rail never would. */
  readonly operatorEnds?: boolean;
}

const NOTHING: Decision = { move: null, postings: [], detectedAnomalies: [], verifies: false };

/**
 * A message is believed when it says what was to be expected: the payment we asked for, of an open payin. Everything else
 * (another amount, an end without money, money for what has ended or is unknown) is `doubtful`: the rail is asked
 * about it, and its answer decides. What is believed confirms the payin; it settles only after the rail, queried, lists
 * the payment too.
 * @param isBooked whether the money of an execution is in the ledger already
 * @param isReversed whether an operator reversed the booking of an execution, and no status has listed it since
 */
export function decideFromNotification(
  payin: OutcomeInput | null,
  notification: RailNotification,
  isBooked: (executionId: string) => boolean,
  isReversed: (executionId: string) => boolean,
): Decision | 'duplicate' | 'needs_verification' {
  if (notification.kind === 'paid') {
    if (isBooked(notification.executionId)) return 'duplicate';
    // The rail did not list this execution before. Another notification of it proves nothing: only a status does.
    if (isReversed(notification.executionId)) return 'needs_verification';
    if (payin === null || isFinal(payin.status) || notification.amount !== payin.amount)
      return 'needs_verification';
    // Its money would wait in suspense, where an operator may credit it: that too needs a status that lists it.
    if (payin.link === 'ended') return 'needs_verification';
    return received(payin, notification, 'paid_on_notification');
  }
  if (payin === null) return 'needs_verification';
  if (payin.status === 'CONFIRMED')
    return notification.kind === 'refused'
      ? 'duplicate'
      : { ...NOTHING, detectedAnomalies: [contradiction()] };
  if (isFinal(payin.status)) return 'duplicate';
  // Past its time a refusal may be the answer to our own closing: then the rail is asked, as for any end.
  const refused = notification.kind === 'refused' && !payin.expired;
  return refused
    ? { ...NOTHING, move: ended(notification.errorCode, 'order_refused') }
    : 'needs_verification';
}

/**
 * How a collection stands at its rail, by the rail's own answer: that is believed. Each payment is booked once. One
 * payment decides about an open payin, by its amount; the rest goes to suspense.
 * @param told the message that led to asking, if one did
 */
export function decideFromStatus(
  payin: OutcomeInput | null,
  railStatus: Pick<CollectionStatus, 'state' | 'payments' | 'errorCode'>,
  isBooked: (executionId: string) => boolean,
  notification: RailNotification | null,
): Decision {
  const fresh = distinct(railStatus.payments).filter((payment) => !isBooked(payment.executionId));
  const [first, ...rest] = payin !== null && !isFinal(payin.status) ? inOrder(payin, fresh) : [];
  const odd = first === undefined ? fresh : rest;
  const base =
    payin !== null && first !== undefined
      ? received(payin, first, 'paid_on_poll')
      : { ...NOTHING, move: endOf(payin, railStatus) };
  const status = base.move?.to ?? payin?.status ?? null;
  const verification = payin?.unverified ? verify(payin.unverified, railStatus.payments, isBooked) : null;
  return {
    move: base.move,
    postings: [...base.postings, ...odd.map((payment) => posting(payment, 'suspense'))],
    detectedAnomalies: [
      ...base.detectedAnomalies,
      ...odd.map((payment) => tooMuch(payment, status, payin?.reversed ?? false)),
      ...unfit(status, railStatus, notification),
      ...(payin !== null && base.move === null ? stuck(payin, railStatus) : []),
      ...(payin?.unverified && verification === 'not_listed' ? [notListed(payin.unverified)] : []),
    ],
    verifies: typeof verification === 'object' && verification !== null,
    endToEndId: typeof verification === 'object' ? verification?.endToEndId : undefined,
  };
}

/**
 * The payment that confirmed the payin, when the rail lists it. It is the amount we queried that counts: another amount
 * under the same execution is not the payment that was booked, and waiting does not change it.
 */
function verify(
  { executionId, amount, pastProcessingTime }: UnverifiedPayment,
  payments: readonly Payment[],
  isBooked: (executionId: string) => boolean,
): Payment | 'not_listed' | null {
  const same = payments.filter((payment) =>
    executionId === null ? isBooked(payment.executionId) : payment.executionId === executionId,
  );
  const listed = same.find((payment) => payment.amount === amount);
  if (listed) return listed;
  return same.length > 0 || pastProcessingTime ? 'not_listed' : null;
}

/**
 * Whether the rail's answer bears a message out. When not, the answer may simply be older: a rail's books follow its
 * messages by a moment.
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

/** An answer that leaves an open payin open for ever: somebody must look, and the rail is asked on. */
function stuck(
  payin: OutcomeInput,
  { state, payments }: Pick<CollectionStatus, 'state' | 'payments'>,
): DetectedAnomaly[] {
  if (isFinal(payin.status)) return [];
  const [booked] = payments;
  // Its money was booked for another: a message named the wrong collection.
  if (booked) return [{ kind: 'contradiction', executionId: booked.executionId, amount: null }];
  return state === 'not_found' && payin.opened && payin.expired ? [contradiction()] : [];
}

function distinct(payments: readonly Payment[]): Payment[] {
  return [...new Map(payments.map((payment) => [payment.executionId, payment])).values()];
}

/**
 * Only the rail's clear word ends an open payin without money. Payments it lists here are all booked, and so for other
 * payins, because an open payin has none: only an operator can end that.
 */
function endOf(
  payin: OutcomeInput | null,
  { state, payments, errorCode }: Pick<CollectionStatus, 'state' | 'payments' | 'errorCode'>,
): Transition | null {
  if (payin === null || isFinal(payin.status)) return null;
  if (payments.length > 0)
    return payin.operatorEnds && payin.expired ? ended('EXPIRED', 'ended_by_operator') : null;
  if (state === 'declined') return ended(errorCode ?? 'RAIL_REJECTED', 'declined_by_rail');
  if (!payin.expired) return null;
  if (state === 'closed') return ended('EXPIRED', 'expired_unpaid');
  if (state === 'not_found' && payin.nothingUnderWay) return ended('EXPIRED', 'expired_never_sent');
  return payin.operatorEnds ? ended('EXPIRED', 'ended_by_operator') : null;
}

const OF_THE_PAYER: ReadonlySet<RailErrorCode> = new Set(['PAYER_CANCELED', 'PAYER_ABANDONED', 'EXPIRED']);

function ended(errorCode: RailErrorCode, cause: TransitionReason): Transition {
  const canceled = OF_THE_PAYER.has(errorCode);
  return {
    to: canceled ? 'CANCELED' : 'DECLINED',
    confirmedAmount: null,
    errorCode,
    settles: false,
    payment: null,
    cause: canceled && cause === 'declined_by_rail' ? 'canceled_by_payer' : cause,
  };
}

/**
 * The payment that decides about an open payin. A direct payin and a payment link ask for their amount: what arrives
 * beyond it is in suspense, and so is less, or money for a link that has ended. Only an organization that takes any
 * amount has its direct payins confirmed with what arrived.
 */
function received(
  payin: OutcomeInput,
  payment: Pick<Payment, 'executionId' | 'endToEndId' | 'amount'>,
  cause: TransitionReason,
): Decision {
  const { executionId, endToEndId, amount } = payment;
  const direct = payin.link === null;
  const move = {
    to: 'CONFIRMED',
    confirmedAmount: amount,
    endToEndId,
    errorCode: null,
    settles: true,
    payment: { executionId, verified: cause !== 'paid_on_notification' },
    cause,
  } as const;
  const takesAny = direct && payin.amountPolicy === 'ANY';
  if (takesAny || (payin.link !== 'ended' && amount === payin.amount))
    return { ...NOTHING, move, postings: [posting(payment, 'pending')] };
  if (payin.link === 'ended' || amount < payin.amount)
    return {
      ...NOTHING,
      move: direct ? underpaid(payment) : { ...move, settles: false },
      postings: [posting(payment, 'suspense')],
      detectedAnomalies: [{ kind: payin.link === 'ended' ? 'paid_again' : 'underpaid', executionId, amount }],
    };
  const excess = cents(amount - payin.amount);
  return {
    ...NOTHING,
    move: direct ? { ...move, confirmedAmount: payin.amount } : move,
    postings: [
      { executionId, amount: payin.amount, into: 'pending' },
      { executionId, amount: excess, into: 'suspense', excess: true },
    ],
    detectedAnomalies: [{ kind: 'overpaid', executionId, amount: excess }],
  };
}

/** A merchant that looks only at the event's name must not deliver goods for less than their price. */
function underpaid({ executionId, amount, endToEndId }: Omit<Payment, 'at'>): Transition {
  return {
    to: 'DECLINED',
    confirmedAmount: amount,
    endToEndId,
    errorCode: 'UNDERPAID',
    settles: false,
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

function tooMuch(
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

/** A message that the rail, asked, does not stand by. */
function unfit(
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
 * The one that came first decides; a rail that does not say when is taken in the order it lists them. A direct payin is
 * decided by a payment of its exact amount if there is one: an earlier mistake of the payer must not decline it.
 */
function inOrder(payin: OutcomeInput, payments: readonly Payment[]): Payment[] {
  const exactFirst = payin.link === null && payin.amountPolicy === 'EXACT';
  const rank = ({ amount }: Payment) => (exactFirst && amount !== payin.amount ? 1 : 0);
  return payments.toSorted((a, b) => rank(a) - rank(b) || (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0));
}
