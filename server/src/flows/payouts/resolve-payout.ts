import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { post } from '../../ledger/ledger.store.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import type { Transition } from '../../payouts/payout.outcome.ts';
import type { PayoutStatus } from '../../payouts/payout.states.ts';
import { arrivesWithinMs, type WaitingReason, waitingReason } from '../../payouts/payout.waiting.ts';
import { accountedExecutions } from '../../payouts/payout-execution.store.ts';
import {
  type AttemptRow,
  attemptsOf,
  type LockedPayout,
  listUnknown,
  lockPayouts,
  ownerOfPayout,
  standingOf,
  type UnknownPayout,
} from '../../payouts/payout-outcome.store.ts';
import { scheduleResend } from '../../payouts/payout-send.store.ts';
import type { OrderStatus, RailAnswer, RailErrorCode } from '../../rails/contract.ts';
import { applyPayoutUpdates } from './apply-payout-updates.ts';
import { endPayouts } from './end-payouts.ts';

export type { WaitingReason };

/** The operator's queue, oldest first, and why each payout is in it. */
export async function unknownPayouts(
  deps: SystemDeps,
  limit: number,
): Promise<(UnknownPayout & { readonly reason: WaitingReason })[]> {
  const unknown = await deps.system.transaction('read', (tx) => listUnknown(tx, limit));
  return unknown.map((row) => ({ ...row, reason: waitingReason(row, deps.payoutRail.capabilities) }));
}

export interface PayoutStory {
  readonly payout: LockedPayout;
  readonly attempts: readonly AttemptRow[];
}

/** A payout and every time it was sent; null when there is no such payout. */
export async function payoutStory(deps: SystemDeps, id: string): Promise<PayoutStory | null> {
  return deps.system.transaction('read', async (tx) => {
    const key = await ownerOfPayout(tx, id);
    if (!key) return null;
    const payout = await standingOf(tx, key);
    return payout ? { payout, attempts: await attemptsOf(tx, key) } : null;
  });
}

/** What an operator knows of a payout by other ways than the rail's interface: its bank's statement, a telephone call. */
export type OperatorDecision =
  | { readonly kind: 'confirm' }
  /** The rail does not know the order and never executed it: the same order leaves again. */
  | { readonly kind: 'resend' }
  /** `anyway`: though the rail says that it has the order and is still at it. */
  | { readonly kind: 'decline'; readonly errorCode: RailErrorCode; readonly anyway: boolean };

export type PayoutRefusal =
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
  | PayoutRefusal;

/**
 * Ends a payout by an operator's word, for want of the rail's. The rail is asked once more first: where it has a clear
 * answer, that is what counts. State, history, event, money and the record of who did it change together.
 */
export async function resolvePayout(
  deps: SystemDeps,
  id: string,
  update: OperatorDecision,
  by: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  const story = await payoutStory(deps, id);
  if (!story) return { kind: 'not_found' };
  const { payout } = story;
  if (payout.status !== 'PROCESSING') return { kind: 'already_final', status: payout.status };
  if (payout.attempts === 0) return { kind: 'never_sent' };
  const [answer] = await deps.payoutRail.queryOrders([payout.end_to_end_id]);
  const railStatus = decided(answer);
  if (railStatus) {
    const applied = await applyStanding(deps, payout, railStatus, update, by);
    // Settled over another amount than ours, or by an execution of another payout: only a person can decide.
    if (applied.kind !== 'decided_by_rail' || applied.status !== 'PROCESSING') return applied;
    if (update.kind === 'confirm') return applyDecision(deps, payout, update, by);
    if (!(await paidAnother(deps, payout, railStatus))) return { kind: 'settled_elsewhere' };
    return update.kind === 'decline'
      ? applyDecision(deps, payout, update, by)
      : { kind: 'execution_of_another_payout' };
  }
  const atIt = answer?.kind === 'yes' && answer.value.state === 'processing';
  if (update.kind === 'resend') {
    if (answer?.kind !== 'yes') return { kind: 'rail_unanswered' };
    return atIt ? { kind: 'rail_in_progress' } : resend(deps, payout, by);
  }
  if (atIt && update.kind === 'decline' && !update.anyway) return { kind: 'in_progress_at_rail' };
  return applyDecision(deps, payout, update, by);
}

function decided(answer: RailAnswer<OrderStatus> | undefined): OrderStatus | null {
  if (answer?.kind !== 'yes') return null;
  return answer.value.state === 'settled' || answer.value.state === 'rejected' ? answer.value : null;
}

/** Whether the execution that the rail lists is accounted to another payout. That never changes afterwards. */
async function paidAnother(
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

async function applyStanding(
  deps: SystemDeps,
  payout: LockedPayout,
  railStatus: OrderStatus,
  update: OperatorDecision,
  { operator, note }: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  const reference = payout.end_to_end_id;
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const updates = [
      { rail: 'BRE_B', reference, notification: null, railStatus, pastProcessingWindow: false } as const,
    ];
    await applyPayoutUpdates(deps, new DataKeys(deps.system, deps.masterKeys), tx, updates, {
      leaseToken: null,
      conclude: async () => undefined,
    });
    const [now] = await lockPayouts(tx, [{ organizationId: payout.organization_id, id: payout.id }]);
    const status = now?.status ?? payout.status;
    await recordAction(tx, {
      operator,
      action: 'payouts.resolve',
      organizationId: payout.organization_id,
      resource: payout.id,
      details: { asked: update.kind, status, decidedBy: 'rail' },
      note,
    });
    return { kind: 'decided_by_rail', status };
  });
}

/**
 * Sends the same order again under the same end-to-end id, on the word of an operator that the first one is lost. The rail
 * has just answered that it does not know the order; that is conclusive only when everything that left can have arrived.
 */
async function resend(
  deps: SystemDeps,
  asked: LockedPayout,
  { operator, note }: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const { organization_id: organizationId, id } = asked;
    const [payout] = await lockPayouts(tx, [{ organizationId, id }]);
    if (!payout) return { kind: 'not_found' };
    if (payout.status !== 'PROCESSING') return { kind: 'already_final', status: payout.status };
    if (payout.rail_task === 'send') return { kind: 'resend_scheduled' };
    if (mayStillArrive(deps, asked, payout)) return { kind: 'too_early' };
    await scheduleResend(tx, { organizationId, id });
    await recordAction(tx, {
      operator,
      action: 'payouts.resolve',
      organizationId,
      resource: id,
      details: { asked: 'resend', status: payout.status, decidedBy: 'operator' },
      note,
    });
    return { kind: 'resend', attempts: payout.attempts };
  });
}

/** What left a moment ago may still arrive: nobody can know yet that it never will. */
function mayStillArrive({ payoutRail }: SystemDeps, asked: LockedPayout, payout: LockedPayout): boolean {
  const sentAgain = payout.attempts !== asked.attempts;
  return sentAgain || (asked.sent_ms_ago ?? 0) < arrivesWithinMs(payoutRail.capabilities);
}

async function applyDecision(
  deps: SystemDeps,
  asked: LockedPayout,
  update: Exclude<OperatorDecision, { kind: 'resend' }>,
  { operator, note }: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const { organization_id: organizationId, id } = asked;
    const key = { organizationId, id };
    const [payout] = await lockPayouts(tx, [key]);
    if (!payout) return { kind: 'not_found' };
    if (payout.status !== 'PROCESSING') return { kind: 'already_final', status: payout.status };
    if (update.kind === 'decline' && mayStillArrive(deps, asked, payout)) return { kind: 'too_early' };
    const move: Transition =
      update.kind === 'confirm'
        ? {
            to: 'CONFIRMED',
            errorCode: null,
            executionId: null,
            cause: 'confirmed_by_operator',
          }
        : { to: 'DECLINED', errorCode: update.errorCode, executionId: null, cause: 'declined_by_operator' };
    const keys = new DataKeys(deps.system, deps.masterKeys);
    const transfers = await endPayouts(deps, keys, tx, [{ ...key, ...move }]);
    await recordAction(tx, {
      operator,
      action: 'payouts.resolve',
      organizationId,
      resource: id,
      details: { asked: update.kind, status: move.to, errorCode: move.errorCode, decidedBy: 'operator' },
      note,
    });
    await post(tx, transfers);
    return { kind: 'resolved', status: move.to };
  });
}
