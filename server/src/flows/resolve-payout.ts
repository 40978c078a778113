import { recordAction } from '../audit/operator-action.store.ts';
import type { SystemDeps } from '../deps.ts';
import { uuidv7 } from '../kit/ids.ts';
import { post } from '../ledger/ledger.store.ts';
import { DataKeys } from '../organizations/data-keys.ts';
import type { Move } from '../payouts/payout.outcome.ts';
import { LEAVES_WITHIN_MS } from '../payouts/payout.questions.ts';
import type { PayoutStatus } from '../payouts/payout.states.ts';
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
import type { OrderStanding, RailAnswer, RailErrorCode } from '../rails/contract.ts';
import { applyPayoutWords } from './apply-payout-words.ts';
import { endPayouts } from './end-payouts.ts';

/** The operator's queue, oldest first. */
export function unknownPayouts(deps: SystemDeps, most: number): Promise<UnknownPayout[]> {
  return deps.system.transaction('read', (tx) => listUnknown(tx, most));
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
  /** `anyway`: though the rail says that it has the order and is still at it. */
  | { readonly kind: 'decline'; readonly errorCode: RailErrorCode; readonly anyway: boolean };

export type PayoutRefusal =
  | {
      readonly kind:
        | 'no such payout'
        | 'never sent'
        | 'too early'
        | 'the rail is at it'
        | 'settled otherwise';
    }
  | { readonly kind: 'ended before'; readonly status: PayoutStatus };

type PayoutResolution =
  | { readonly kind: 'resolved'; readonly status: PayoutStatus }
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
    const applied = await applyStanding(deps, payout, standing);
    // Settled over another amount than ours: nobody but a person can say what that means.
    if (applied.kind !== 'the rail has decided' || applied.status !== 'PROCESSING') return applied;
    return word.kind === 'confirm' ? applyWord(deps, payout, word, by) : { kind: 'settled otherwise' };
  }
  const atIt = answer?.kind === 'yes' && answer.value.state === 'processing';
  if (atIt && word.kind === 'decline' && !word.anyway) return { kind: 'the rail is at it' };
  return applyWord(deps, payout, word, by);
}

function decided(answer: RailAnswer<OrderStanding> | undefined): OrderStanding | null {
  if (answer?.kind !== 'yes') return null;
  return answer.value.state === 'settled' || answer.value.state === 'rejected' ? answer.value : null;
}

async function applyStanding(
  deps: SystemDeps,
  payout: LockedPayout,
  standing: OrderStanding,
): Promise<PayoutResolution> {
  const reference = payout.end_to_end_id;
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const words = [{ rail: 'BRE_B', reference, told: null, standing, toldLongAgo: false } as const];
    await applyPayoutWords(deps, new DataKeys(deps.system, deps.masterKeys), tx, words, {
      claimToken: null,
      conclude: async () => undefined,
    });
    const [now] = await lockPayouts(tx, [{ organizationId: payout.organization_id, id: payout.id }]);
    return { kind: 'the rail has decided', status: now?.status ?? payout.status };
  });
}

async function applyWord(
  deps: SystemDeps,
  asked: LockedPayout,
  word: OperatorWord,
  { operator, note }: { readonly operator: string; readonly note: string },
): Promise<PayoutResolution> {
  return deps.system.transaction('resolve payout', async (tx): Promise<PayoutResolution> => {
    const { organization_id: organizationId, id } = asked;
    const key = { organizationId, id };
    const [payout] = await lockPayouts(tx, [key]);
    if (!payout) return { kind: 'no such payout' };
    if (payout.status !== 'PROCESSING') return { kind: 'ended before', status: payout.status };
    // What left a moment ago may still arrive: nobody can know yet that it never will.
    const { longestProcessingMs } = deps.payoutRail.abilities;
    const sentAgain = payout.attempts !== asked.attempts;
    const settling = sentAgain || (asked.sent_ms_ago ?? 0) < LEAVES_WITHIN_MS + longestProcessingMs;
    if (word.kind === 'decline' && settling) return { kind: 'too early' };
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
      id: uuidv7(deps.clock.now(), deps.cell),
      organizationId,
      operator,
      action: `payout ${word.kind}`,
      resourceId: id,
      note,
    });
    await post(tx, transfers);
    return { kind: 'resolved', status: move.to };
  });
}
