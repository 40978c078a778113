import { recordAction } from '../audit/operator-action.store.ts';
import type { SystemDeps } from '../deps.ts';
import { post } from '../ledger/ledger.store.ts';
import { DataKeys } from '../organizations/data-keys.ts';
import type { Move } from '../payouts/payout.outcome.ts';
import type { PayoutStatus } from '../payouts/payout.states.ts';
import { arrivesWithinMs, type WaitingReason, waitingReason } from '../payouts/payout.waiting.ts';
import { accountedExecutions } from '../payouts/payout-execution.store.ts';
import {
  type AttemptRow,
  attemptsOf,
  type LockedPayout,
  listUnknown,
  lockPayouts,
  ownerOfPayout,
  standingOf,
  type UnknownPayout,
} from '../payouts/payout-outcome.store.ts';
import { scheduleResend } from '../payouts/payout-send.store.ts';
import type { OrderStanding, RailAnswer, RailErrorCode } from '../rails/contract.ts';
import { applyPayoutWords } from './apply-payout-words.ts';
import { endPayouts } from './end-payouts.ts';

export type { WaitingReason };

/** The operator's queue, oldest first, and why each payout is in it. */
export async function unknownPayouts(
  deps: SystemDeps,
  most: number,
): Promise<(UnknownPayout & { readonly reason: WaitingReason })[]> {
  const unknown = await deps.system.transaction('read', (tx) => listUnknown(tx, most));
  return unknown.map((row) => ({ ...row, reason: waitingReason(row, deps.payoutRail.abilities) }));
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
export type OperatorWord =
  | { readonly kind: 'confirm' }
  /** The rail does not know the order and never executed it: the same order leaves again. */
  | { readonly kind: 'resend' }
  /** `anyway`: though the rail says that it has the order and is still at it. */
  | { readonly kind: 'decline'; readonly errorCode: RailErrorCode; readonly anyway: boolean };

export type PayoutRefusal =
  | {
      readonly kind:
        | 'no such payout'
        | 'never sent'
        | 'too early'
        | 'the rail is at it'
        | 'settled otherwise'
        | 'execution_of_another_payout'
        | 'rail_in_progress'
        | 'rail_unanswered'
        | 'resend_scheduled';
    }
  | { readonly kind: 'ended before'; readonly status: PayoutStatus };

type PayoutResolution =
  | { readonly kind: 'resolved'; readonly status: PayoutStatus }
  | { readonly kind: 'resend'; readonly attempts: number }
  | { readonly kind: 'the rail has decided'; readonly status: PayoutStatus }
  | PayoutRefusal;

/**
 * Ends a payout by an operator's word, for want of the rail's. The rail is asked once more first: where it has a clear
 * answer, that is what counts. State, history, event, money and the record of who did it change together.
 */
export async function resolvePayout(
  deps: SystemDeps,
  id: string,
  word: OperatorWord,
  by: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  const story = await payoutStory(deps, id);
  if (!story) return { kind: 'no such payout' };
  const { payout } = story;
  if (payout.status !== 'PROCESSING') return { kind: 'ended before', status: payout.status };
  if (payout.attempts === 0) return { kind: 'never sent' };
  const [answer] = await deps.payoutRail.askOrders([payout.end_to_end_id]);
  const standing = decided(answer);
  if (standing) {
    const applied = await applyStanding(deps, payout, standing, word, by);
    // Settled over another amount than ours, or by an execution of another payout: only a person can decide.
    if (applied.kind !== 'the rail has decided' || applied.status !== 'PROCESSING') return applied;
    if (word.kind === 'confirm') return applyWord(deps, payout, word, by);
    if (!(await paidAnother(deps, payout, standing))) return { kind: 'settled otherwise' };
    return word.kind === 'decline'
      ? applyWord(deps, payout, word, by)
      : { kind: 'execution_of_another_payout' };
  }
  const atIt = answer?.kind === 'yes' && answer.value.state === 'processing';
  if (word.kind === 'resend') {
    if (answer?.kind !== 'yes') return { kind: 'rail_unanswered' };
    return atIt ? { kind: 'rail_in_progress' } : resend(deps, payout, by);
  }
  if (atIt && word.kind === 'decline' && !word.anyway) return { kind: 'the rail is at it' };
  return applyWord(deps, payout, word, by);
}

function decided(answer: RailAnswer<OrderStanding> | undefined): OrderStanding | null {
  if (answer?.kind !== 'yes') return null;
  return answer.value.state === 'settled' || answer.value.state === 'rejected' ? answer.value : null;
}

/** Whether the execution that the rail lists is accounted to another payout. That never changes afterwards. */
async function paidAnother(
  deps: SystemDeps,
  payout: LockedPayout,
  { executionId }: OrderStanding,
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
  standing: OrderStanding,
  word: OperatorWord,
  { operator, note }: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  const reference = payout.end_to_end_id;
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const words = [{ rail: 'BRE_B', reference, told: null, standing, toldLongAgo: false } as const];
    await applyPayoutWords(deps, new DataKeys(deps.system, deps.masterKeys), tx, words, {
      claimToken: null,
      conclude: async () => undefined,
    });
    const [now] = await lockPayouts(tx, [{ organizationId: payout.organization_id, id: payout.id }]);
    const status = now?.status ?? payout.status;
    await recordAction(tx, {
      operator,
      action: 'payouts.resolve',
      organizationId: payout.organization_id,
      resource: payout.id,
      details: { asked: word.kind, status, decidedBy: 'rail' },
      note,
    });
    return { kind: 'the rail has decided', status };
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
    if (!payout) return { kind: 'no such payout' };
    if (payout.status !== 'PROCESSING') return { kind: 'ended before', status: payout.status };
    if (payout.rail_task === 'send') return { kind: 'resend_scheduled' };
    if (mayStillArrive(deps, asked, payout)) return { kind: 'too early' };
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
  return sentAgain || (asked.sent_ms_ago ?? 0) < arrivesWithinMs(payoutRail.abilities);
}

async function applyWord(
  deps: SystemDeps,
  asked: LockedPayout,
  word: Exclude<OperatorWord, { kind: 'resend' }>,
  { operator, note }: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const { organization_id: organizationId, id } = asked;
    const key = { organizationId, id };
    const [payout] = await lockPayouts(tx, [key]);
    if (!payout) return { kind: 'no such payout' };
    if (payout.status !== 'PROCESSING') return { kind: 'ended before', status: payout.status };
    if (word.kind === 'decline' && mayStillArrive(deps, asked, payout)) return { kind: 'too early' };
    const move: Move =
      word.kind === 'confirm'
        ? {
            to: 'CONFIRMED',
            errorCode: null,
            executionId: null,
            cause: 'confirmed by an operator',
          }
        : { to: 'DECLINED', errorCode: word.errorCode, executionId: null, cause: 'declined by an operator' };
    const keys = new DataKeys(deps.system, deps.masterKeys);
    const transfers = await endPayouts(deps, keys, tx, [{ ...key, ...move }]);
    await recordAction(tx, {
      operator,
      action: 'payouts.resolve',
      organizationId,
      resource: id,
      details: { asked: word.kind, status: move.to, errorCode: move.errorCode, decidedBy: 'operator' },
      note,
    });
    await post(tx, transfers);
    return { kind: 'resolved', status: move.to };
  });
}
