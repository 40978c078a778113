import type { Cents } from '../kit/money.ts';
import type { OrderStatus, RailErrorCode, RailNotification } from '../rails/contract.ts';
import { isFinal, type PayoutStatus } from './payout.states.ts';

/** Why a payout changes state, as recorded in its history. */
type TransitionReason =
  | 'settled_on_notification'
  | 'settled_on_poll'
  | 'rejected_by_rail'
  | 'order_refused'
  | 'receiver_changed'
  | 'canceled_by_merchant'
  | 'canceled_by_operator'
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
  /** Money that left and that no payout accounts for; null without money. */
  readonly amount: Cents | null;
}

export interface Decision {
  readonly transition: Transition | null;
  readonly detectedAnomalies: readonly DetectedAnomaly[];
  /** The rail does not have the order and no attempt is in flight: the same order may be sent again. */
  readonly sendAgain: boolean;
  /** The reported execution of a payout that an operator had confirmed without one. */
  readonly adopt: string | null;
}

/** The fields of a payout that decide its outcome. */
export interface OutcomeInput {
  readonly status: PayoutStatus;
  readonly amount: Cents;
  /** Attempts that may have reached the rail. */
  readonly sentAttempts: number;
  readonly executionId: string | null;
  /** The rail's error code when it rejected the last attempt. */
  readonly rejection: RailErrorCode | null;
  /** The rail's maximum processing time has passed since the last attempt. */
  readonly noOrderInFlight: boolean;
  /** The rail rejects a second order with the same end-to-end id. */
  readonly rejectsDuplicateOrders: boolean;
}

/** Whether an execution is already attributed to another payout: it cannot have paid this one as well. */
export type IsTaken = (executionId: string) => boolean;

const NOTHING: Decision = { transition: null, detectedAnomalies: [], sendAgain: false, adopt: null };

/**
 * Decides from a notification alone only when it reports the expected outcome: a sent order is settled for its amount.
 * Everything else needs verification: the rail is queried, and its answer decides. A rejection of the only attempt that
 * reached the rail is accepted too, because no other order can be in flight.
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
      payout.status === 'PROCESSING' && payout.sentAttempts > 0 && notification.amount === payout.amount;
    return expected && !isTaken(notification.executionId)
      ? confirmed(notification.executionId, 'settled_on_notification')
      : 'needs_verification';
  }
  if (payout.status === 'CONFIRMED')
    return notification.kind === 'refused'
      ? 'duplicate'
      : { ...NOTHING, detectedAnomalies: [contradiction()] };
  if (isFinal(payout.status)) return 'duplicate';
  return notification.kind === 'refused' && payout.sentAttempts === 1
    ? declined(notification.errorCode, 'order_refused')
    : 'needs_verification';
}

/**
 * Decides from the order status that the rail reports, which is authoritative. Only a definite status ends a payout.
 * `not_found` is definite only when no order can be in flight, and even then it permits a resend instead of a decline.
 * @param notification the notification that led to the query, if any
 */
export function decideFromStatus(
  payout: OutcomeInput | null,
  railStatus: OrderStatus,
  isTaken: IsTaken,
  notification: RailNotification | null,
): Decision {
  const decision = decideOnState(payout, railStatus, isTaken);
  const status = decision.transition?.to ?? payout?.status ?? null;
  return {
    ...decision,
    detectedAnomalies: [...decision.detectedAnomalies, ...unconfirmed(status, railStatus, notification)],
  };
}

/**
 * Whether the rail's status confirms a notification. If not, the status may simply be older: a rail updates its records
 * shortly after it sends a notification.
 */
export function isConfirmedBy({ state, executionId }: OrderStatus, notification: RailNotification): boolean {
  if (notification.kind === 'paid') return state === 'settled' && executionId === notification.executionId;
  return state === 'rejected' || state === 'settled';
}

function decideOnState(payout: OutcomeInput | null, railStatus: OrderStatus, isTaken: IsTaken): Decision {
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
  // One execution pays one payout, and its money is already posted: the rail contradicts itself, so an operator decides.
  if (isTaken(executionId))
    return { ...NOTHING, detectedAnomalies: [{ kind: 'contradiction', executionId, amount: null }] };
  const money = (kind: DetectedAnomaly['kind']): Decision => ({
    ...NOTHING,
    detectedAnomalies: [{ kind, executionId, amount }],
  });
  if (payout === null) return money('unmatched');
  if (payout.status === 'PROCESSING') {
    // The rail executed another amount: the outcome stays unknown until an operator decides.
    if (amount !== payout.amount)
      return { ...NOTHING, detectedAnomalies: [{ kind: 'contradiction', executionId, amount: null }] };
    return confirmed(executionId, 'settled_on_poll');
  }
  if (payout.status === 'CONFIRMED') {
    // An order is executed once, so this is the execution of the payout that an operator confirmed.
    if (payout.executionId === null && amount === payout.amount) return { ...NOTHING, adopt: executionId };
    return payout.executionId === executionId ? NOTHING : money('sent_again');
  }
  return money('sent_late');
}

function notFound(payout: OutcomeInput): Decision {
  if (payout.status !== 'PROCESSING' || payout.sentAttempts === 0 || !payout.noOrderInFlight) return NOTHING;
  if (payout.rejection !== null) return declined(payout.rejection, 'order_refused');
  return { ...NOTHING, sendAgain: payout.rejectsDuplicateOrders };
}

function confirmed(executionId: string, cause: TransitionReason): Decision {
  return { ...NOTHING, transition: { to: 'CONFIRMED', errorCode: null, executionId, cause } };
}

function declined(errorCode: RailErrorCode, cause: TransitionReason): Decision {
  return { ...NOTHING, transition: { to: 'DECLINED', errorCode, executionId: null, cause } };
}

function contradiction(): DetectedAnomaly {
  return { kind: 'contradiction', executionId: null, amount: null };
}

/** An anomaly for a notification that the rail's status does not confirm. */
function unconfirmed(
  status: PayoutStatus | null,
  railStatus: OrderStatus,
  notification: RailNotification | null,
): DetectedAnomaly[] {
  if (notification === null || isConfirmedBy(railStatus, notification)) return [];
  const executionId = notification.kind === 'paid' ? notification.executionId : null;
  if (status === null) return [{ kind: 'unmatched', executionId, amount: null }];
  return notification.kind === 'paid' ? [{ kind: 'unconfirmed', executionId, amount: null }] : [];
}
