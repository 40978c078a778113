import type { Cents } from '../kit/money.ts';
import type { OrderStatus, RailErrorCode, RailNotification } from '../rails/contract.ts';
import { isFinal, type PayoutStatus } from './payout.states.ts';

/** Why a payout changes, as its history says it. */
type TransitionReason =
  | 'settled_on_notification'
  | 'settled_on_poll'
  | 'rejected_by_rail'
  | 'order_refused'
  | 'receiver_changed'
  | 'canceled_by_merchant'
  | 'confirmed_by_operator'
  | 'declined_by_operator';

export interface Transition {
  readonly to: 'CONFIRMED' | 'DECLINED' | 'CANCELED';
  readonly errorCode: RailErrorCode | null;
  readonly executionId: string | null;
  readonly cause: TransitionReason;
}

export interface DetectedAnomaly {
  readonly kind: 'sent_late' | 'sent_again' | 'unmatched' | 'contradiction' | 'unconfirmed';
  readonly executionId: string | null;
  /** Money that left and that nobody answers for; null when none did. */
  readonly amount: Cents | null;
}

export interface Decision {
  readonly move: Transition | null;
  readonly detectedAnomalies: readonly DetectedAnomaly[];
  /** The rail has no such order and never will by itself: the same order may leave again. */
  readonly sendAgain: boolean;
  /** The execution of a payout that an operator's word had confirmed, now that the rail tells of it. */
  readonly adopt: string | null;
}

/** A payout as far as its outcome depends on it. */
export interface OutcomeInput {
  readonly status: PayoutStatus;
  readonly amount: Cents;
  readonly attempts: number;
  readonly executionId: string | null;
  /** What the rail answered to the last attempt, when that was a refusal. */
  readonly refusal: RailErrorCode | null;
  /** Every order that can have left has had the longest time the rail takes. */
  readonly nothingUnderWay: boolean;
  /** The rail refuses a second order under the same end-to-end id. */
  readonly rejectsDuplicateOrders: boolean;
}

/** Whether an execution is already accounted to another payout: it cannot have paid this one as well. */
export type IsTaken = (executionId: string) => boolean;

const NOTHING: Decision = { move: null, detectedAnomalies: [], sendAgain: false, adopt: null };

/**
 * A message is believed when it says what was to be expected: that an order which was sent is settled, over its amount.
 * Everything else is `doubtful`: the rail is asked about it, and its answer decides. The refusal of a first and only
 * attempt is believed too, for nothing else can have left.
 */
export function decideFromNotification(
  payout: OutcomeInput | null,
  notification: RailNotification,
  isTaken: IsTaken,
): Decision | 'duplicate' | 'needs_verification' {
  if (payout === null) return 'needs_verification';
  if (notification.kind === 'paid') {
    if (payout.status === 'CONFIRMED')
      return payout.executionId === notification.executionId ? 'duplicate' : 'needs_verification';
    const expected =
      payout.status === 'PROCESSING' && payout.attempts > 0 && notification.amount === payout.amount;
    return expected && !isTaken(notification.executionId)
      ? confirmed(notification.executionId, 'settled_on_notification')
      : 'needs_verification';
  }
  if (payout.status === 'CONFIRMED')
    return notification.kind === 'refused'
      ? 'duplicate'
      : { ...NOTHING, detectedAnomalies: [contradiction()] };
  if (isFinal(payout.status)) return 'duplicate';
  return notification.kind === 'refused' && payout.attempts === 1
    ? declined(notification.errorCode, 'order_refused')
    : 'needs_verification';
}

/**
 * How an order stands, by the rail's own answer: that is believed. Only its clear word ends a payout; "no such order" is
 * one only when nothing can still be under way, and even then it permits the same order again rather than saying no.
 * @param told the message that led to asking, if one did
 */
export function decideFromStatus(
  payout: OutcomeInput | null,
  railStatus: OrderStatus,
  isTaken: IsTaken,
  notification: RailNotification | null,
): Decision {
  const decision = ofStanding(payout, railStatus, isTaken);
  const status = decision.move?.to ?? payout?.status ?? null;
  return {
    ...decision,
    detectedAnomalies: [...decision.detectedAnomalies, ...unfit(status, railStatus, notification)],
  };
}

/**
 * Whether the rail's answer bears a message out. When not, the answer may simply be older: a rail's books follow its
 * messages by a moment.
 */
export function isConfirmedBy({ state, executionId }: OrderStatus, notification: RailNotification): boolean {
  if (notification.kind === 'paid') return state === 'settled' && executionId === notification.executionId;
  return state === 'rejected' || state === 'settled';
}

function ofStanding(payout: OutcomeInput | null, railStatus: OrderStatus, isTaken: IsTaken): Decision {
  switch (railStatus.state) {
    case 'settled':
      return settled(payout, railStatus, isTaken);
    case 'rejected':
      if (payout?.status === 'PROCESSING')
        return declined(railStatus.errorCode ?? 'RAIL_REJECTED', 'rejected_by_rail');
      return payout?.status === 'CONFIRMED' ? { ...NOTHING, detectedAnomalies: [contradiction()] } : NOTHING;
    case 'not_found':
      return payout === null ? NOTHING : notFound(payout);
    case 'processing':
      return NOTHING;
  }
}

function settled(
  payout: OutcomeInput | null,
  { executionId, amount }: OrderStatus,
  isTaken: IsTaken,
): Decision {
  if (executionId === null || amount === null) throw new Error('settled without an execution');
  // One execution pays one payout: the rail contradicts itself, its money is booked already, and a person must look.
  if (isTaken(executionId))
    return { ...NOTHING, detectedAnomalies: [{ kind: 'contradiction', executionId, amount: null }] };
  const money = (kind: DetectedAnomaly['kind']): Decision => ({
    ...NOTHING,
    detectedAnomalies: [{ kind, executionId, amount }],
  });
  if (payout === null) return money('unmatched');
  if (payout.status === 'PROCESSING') {
    // Another amount than ours: nobody here can say what happened, so a person must look, and it stays unknown.
    if (amount !== payout.amount)
      return { ...NOTHING, detectedAnomalies: [{ kind: 'contradiction', executionId, amount: null }] };
    return confirmed(executionId, 'settled_on_poll');
  }
  if (payout.status === 'CONFIRMED') {
    // One order is executed once: what an operator confirmed is this.
    if (payout.executionId === null && amount === payout.amount) return { ...NOTHING, adopt: executionId };
    return payout.executionId === executionId ? NOTHING : money('sent_again');
  }
  return money('sent_late');
}

function notFound(payout: OutcomeInput): Decision {
  if (payout.status !== 'PROCESSING' || payout.attempts === 0 || !payout.nothingUnderWay) return NOTHING;
  if (payout.refusal !== null) return declined(payout.refusal, 'order_refused');
  return { ...NOTHING, sendAgain: payout.rejectsDuplicateOrders };
}

function confirmed(executionId: string, cause: TransitionReason): Decision {
  return { ...NOTHING, move: { to: 'CONFIRMED', errorCode: null, executionId, cause } };
}

function declined(errorCode: RailErrorCode, cause: TransitionReason): Decision {
  return { ...NOTHING, move: { to: 'DECLINED', errorCode, executionId: null, cause } };
}

function contradiction(): DetectedAnomaly {
  return { kind: 'contradiction', executionId: null, amount: null };
}

/** A message that the rail, asked, does not stand by. */
function unfit(
  status: PayoutStatus | null,
  railStatus: OrderStatus,
  notification: RailNotification | null,
): DetectedAnomaly[] {
  if (notification === null || isConfirmedBy(railStatus, notification)) return [];
  const executionId = notification.kind === 'paid' ? notification.executionId : null;
  if (status === null) return [{ kind: 'unmatched', executionId, amount: null }];
  return notification.kind === 'paid' ? [{ kind: 'unconfirmed', executionId, amount: null }] : [];
}
