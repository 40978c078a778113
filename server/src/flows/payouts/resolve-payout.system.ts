import { recordAction } from '../../audit/operator-action.store.ts';
import type { ActionDetails } from '../../audit/operator-action.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { operatorActor } from '../../kit/actor.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import type { Transition } from '../../payouts/payout.outcome.ts';
import type { PayoutStatus } from '../../payouts/payout.states.ts';
import { maxArrivalMs, type WaitingReason, waitingReason } from '../../payouts/payout.waiting.ts';
import { accountedExecutions } from '../../payouts/payout-execution.store.ts';
import {
  type AttemptRow,
  findPayoutOwner,
  type LockedPayout,
  listAttempts,
  listUnknown,
  lockPayouts,
  readPayoutState,
  type UnknownPayout,
} from '../../payouts/payout-outcome.store.ts';
import { scheduleResend } from '../../payouts/payout-send.store.ts';
import type { OrderStatus, RailAnswer, RailErrorCode } from '../../rails/contract.ts';
import { applyPayoutUpdates } from './apply-payout-updates.system.ts';
import { endPayouts, postEnded } from './end-payouts.ts';

export type { WaitingReason };

/** The operator's queue, oldest first, with the reason why each payout is in it. */
export async function unknownPayouts(
  deps: SystemDeps,
  limit: number,
): Promise<(UnknownPayout & { readonly reason: WaitingReason })[]> {
  const unknown = await deps.system.transaction('read', (tx) => listUnknown(tx, limit));
  return unknown.map((row) => ({ ...row, reason: waitingReason(row, deps.payoutRail.capabilities) }));
}

export interface PayoutWithAttempts {
  readonly payout: LockedPayout;
  readonly attempts: readonly AttemptRow[];
}

/** A payout and its attempts; null when there is no such payout. */
export async function readPayoutWithAttempts(
  deps: SystemDeps,
  id: string,
): Promise<PayoutWithAttempts | null> {
  return deps.system.transaction('read', async (tx) => {
    const rowId = await findPayoutOwner(tx, id);
    if (!rowId) return null;
    const payout = await readPayoutState(tx, rowId);
    return payout ? { payout, attempts: await listAttempts(tx, rowId) } : null;
  });
}

/** What an operator decides from information outside the rail's API: a bank statement, a phone call. */
export type OperatorDecision =
  | { readonly kind: 'confirm' }
  /** The rail does not know the order and never executed it: send the same order again. */
  | { readonly kind: 'resend' }
  /** `anyway`: although the rail reports the order as in progress. */
  | { readonly kind: 'decline'; readonly errorCode: RailErrorCode; readonly anyway: boolean };

export type PayoutRejection =
  | {
      readonly kind:
        | 'not_found'
        | 'never_sent'
        | 'too_early'
        | 'in_progress_at_rail'
        | 'settled_elsewhere'
        | 'execution_of_another_payout'
        | 'rail_in_progress'
        | 'rail_unanswered'
        | 'resend_scheduled';
    }
  | { readonly kind: 'already_final'; readonly status: PayoutStatus };

type PayoutResolution =
  | { readonly kind: 'resolved'; readonly status: PayoutStatus }
  | { readonly kind: 'resend'; readonly attempts: number }
  | { readonly kind: 'decided_by_rail'; readonly status: PayoutStatus }
  | PayoutRejection;

interface Author {
  readonly operator: string;
  readonly note: string;
}

/**
 * Ends a payout by an operator's decision when the rail reports no outcome. The rail is queried first, and a definite
 * answer overrides the operator. State, history, event, transfers and audit row commit together.
 */
export async function resolvePayout(
  deps: SystemDeps,
  id: string,
  decision: OperatorDecision,
  by: Author,
): Promise<PayoutResolution> {
  const found = await readPayoutWithAttempts(deps, id);
  if (!found) return { kind: 'not_found' };
  const { payout } = found;
  if (payout.status !== 'PROCESSING') return { kind: 'already_final', status: payout.status };
  if (payout.sent_attempts === 0) return { kind: 'never_sent' };
  const [answer] = await deps.payoutRail.queryOrders([payout.end_to_end_id]);
  const railStatus = definiteStatus(answer);
  if (railStatus) {
    const applied = await applyRailStatus(deps, payout, railStatus, decision, by);
    // Settled for another amount, or by an execution of another payout: only the operator can decide.
    if (applied.kind !== 'decided_by_rail' || applied.status !== 'PROCESSING') return applied;
    if (decision.kind === 'confirm') return applyDecision(deps, payout, decision, by);
    if (!(await paidAnotherPayout(deps, payout, railStatus))) return { kind: 'settled_elsewhere' };
    return decision.kind === 'decline'
      ? applyDecision(deps, payout, decision, by)
      : { kind: 'execution_of_another_payout' };
  }
  const inProgress = answer?.kind === 'yes' && answer.value.state === 'processing';
  if (decision.kind === 'resend') {
    if (answer?.kind !== 'yes') return { kind: 'rail_unanswered' };
    return inProgress ? { kind: 'rail_in_progress' } : resend(deps, payout, by);
  }
  if (inProgress && decision.kind === 'decline' && !decision.anyway) return { kind: 'in_progress_at_rail' };
  return applyDecision(deps, payout, decision, by);
}

function definiteStatus(answer: RailAnswer<OrderStatus> | undefined): OrderStatus | null {
  if (answer?.kind !== 'yes') return null;
  return answer.value.state === 'settled' || answer.value.state === 'rejected' ? answer.value : null;
}

/** Whether the execution that the rail lists is attributed to another payout. An attribution never changes. */
async function paidAnotherPayout(
  deps: SystemDeps,
  payout: LockedPayout,
  { executionId }: OrderStatus,
): Promise<boolean> {
  if (executionId === null) return false;
  const accounted = await deps.system.transaction('read', (tx) =>
    accountedExecutions(tx, 'BRE_B', [executionId]),
  );
  const owner = accounted.get(executionId) ?? null;
  return owner !== null && owner !== payout.id;
}

async function applyRailStatus(
  deps: SystemDeps,
  payout: LockedPayout,
  railStatus: OrderStatus,
  decision: OperatorDecision,
  by: Author,
): Promise<PayoutResolution> {
  const reference = payout.end_to_end_id;
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const updates = [
      { rail: 'BRE_B', reference, notification: null, railStatus, pastProcessingWindow: false } as const,
    ];
    await applyPayoutUpdates(deps, new DataKeys(deps.system, deps.masterKeys), tx, updates);
    const [now] = await lockPayouts(tx, [{ organizationId: payout.organization_id, id: payout.id }]);
    const status = now?.status ?? payout.status;
    await recordResolution(tx, payout, by, { decision: decision.kind, status, decidedBy: 'rail' });
    return { kind: 'decided_by_rail', status };
  });
}

/**
 * Schedules the same order again under the same end-to-end id, because an operator knows that the first one is lost. The
 * rail has just answered that it does not know the order; that is conclusive only when no attempt can be in flight.
 * @param queried the payout as it was before the rail was queried
 */
async function resend(deps: SystemDeps, queried: LockedPayout, by: Author): Promise<PayoutResolution> {
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const { organization_id: organizationId, id } = queried;
    const [payout] = await lockPayouts(tx, [{ organizationId, id }]);
    if (!payout) return { kind: 'not_found' };
    if (payout.status !== 'PROCESSING') return { kind: 'already_final', status: payout.status };
    if (payout.rail_task === 'send') return { kind: 'resend_scheduled' };
    if (mayStillArrive(deps, queried, payout)) return { kind: 'too_early' };
    await scheduleResend(tx, { organizationId, id });
    const { status } = payout;
    await recordResolution(tx, payout, by, { decision: 'resend', status, decidedBy: 'operator' });
    return { kind: 'resend', attempts: payout.attempts };
  });
}

/** Whether an order can still be in flight, so that the rail's `not_found` is not conclusive. */
function mayStillArrive({ payoutRail }: SystemDeps, queried: LockedPayout, payout: LockedPayout): boolean {
  const sentAgain = payout.attempts !== queried.attempts;
  return sentAgain || (queried.sent_ms_ago ?? 0) < maxArrivalMs(payoutRail.capabilities);
}

async function applyDecision(
  deps: SystemDeps,
  queried: LockedPayout,
  decision: Exclude<OperatorDecision, { kind: 'resend' }>,
  by: Author,
): Promise<PayoutResolution> {
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const { organization_id: organizationId, id } = queried;
    const rowId = { organizationId, id };
    const [payout] = await lockPayouts(tx, [rowId]);
    if (!payout) return { kind: 'not_found' };
    if (payout.status !== 'PROCESSING') return { kind: 'already_final', status: payout.status };
    if (decision.kind === 'decline' && mayStillArrive(deps, queried, payout)) return { kind: 'too_early' };
    const transition: Transition =
      decision.kind === 'confirm'
        ? {
            to: 'CONFIRMED',
            errorCode: null,
            executionId: null,
            cause: 'confirmed_by_operator',
          }
        : { to: 'DECLINED', errorCode: decision.errorCode, executionId: null, cause: 'declined_by_operator' };
    const dataKeys = new DataKeys(deps.system, deps.masterKeys);
    const transfers = await endPayouts(
      deps,
      dataKeys,
      tx,
      [{ ...rowId, ...transition }],
      operatorActor(by.operator),
    );
    const { to: status, errorCode } = transition;
    const details = { decision: decision.kind, status, errorCode, decidedBy: 'operator' };
    await recordResolution(tx, payout, by, details);
    await postEnded(tx, transfers);
    return { kind: 'resolved', status: transition.to };
  });
}

async function recordResolution(
  tx: Tx,
  { organization_id: organizationId, id: resource }: LockedPayout,
  by: Author,
  details: ActionDetails,
): Promise<void> {
  await recordAction(tx, { ...by, action: 'payouts.resolve', organizationId, resource, details });
}
