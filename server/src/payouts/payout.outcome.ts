import type { Cents } from '../kit/money.ts';
import type { OrderStanding, RailErrorCode, Told } from '../rails/contract.ts';
import { isFinal, type PayoutStatus } from './payout.states.ts';

/** Why a payout changes, as its history says it. */
type MoveCause =
  | 'settled, by notice'
  | 'settled, when asked'
  | 'rejected by the rail'
  | 'refused by the rail'
  | 'the receiver has changed'
  | 'canceled by the merchant'
  | 'confirmed by an operator'
  | 'declined by an operator';

export interface Move {
  readonly to: 'CONFIRMED' | 'DECLINED' | 'CANCELED';
  readonly errorCode: RailErrorCode | null;
  readonly executionId: string | null;
  readonly cause: MoveCause;
}

export interface Oddity {
  readonly kind: 'sent_late' | 'sent_again' | 'unmatched' | 'contradiction' | 'unfounded';
  readonly executionId: string | null;
  /** Money that left and that nobody answers for; null when none did. */
  readonly amount: Cents | null;
}

export interface Judgement {
  readonly move: Move | null;
  readonly oddities: readonly Oddity[];
  /** The rail has no such order and never will by itself: the same order may leave again. */
  readonly sendAgain: boolean;
  /** The execution of a payout that an operator's word had confirmed, now that the rail tells of it. */
  readonly adopt: string | null;
}

/** A payout as far as its outcome depends on it. */
export interface Judged {
  readonly status: PayoutStatus;
  readonly amount: Cents;
  readonly attempts: number;
  readonly executionId: string | null;
  /** What the rail answered to the last attempt, when that was a refusal. */
  readonly refusal: RailErrorCode | null;
  /** Every order that can have left has had the longest time the rail takes. */
  readonly nothingUnderWay: boolean;
  /** The rail refuses a second order under the same end-to-end id. */
  readonly refusesDuplicates: boolean;
}

/** Whether an execution is already accounted to another payout: it cannot have paid this one as well. */
export type IsTaken = (executionId: string) => boolean;

const NOTHING: Judgement = { move: null, oddities: [], sendAgain: false, adopt: null };

/**
 * A message is believed when it says what was to be expected: that an order which was sent is settled, over its amount.
 * Everything else is `doubtful`: the rail is asked about it, and its answer decides. The refusal of a first and only
 * attempt is believed too, for nothing else can have left.
 */
export function judgeMessage(
  payout: Judged | null,
  told: Told,
  isTaken: IsTaken,
): Judgement | 'known' | 'doubtful' {
  if (payout === null) return 'doubtful';
  if (told.kind === 'paid') {
    if (payout.status === 'CONFIRMED') return payout.executionId === told.executionId ? 'known' : 'doubtful';
    const expected = payout.status === 'PROCESSING' && payout.attempts > 0 && told.amount === payout.amount;
    return expected && !isTaken(told.executionId)
      ? confirmed(told.executionId, 'settled, by notice')
      : 'doubtful';
  }
  if (payout.status === 'CONFIRMED')
    return told.kind === 'refused' ? 'known' : { ...NOTHING, oddities: [contradiction()] };
  if (isFinal(payout.status)) return 'known';
  return told.kind === 'refused' && payout.attempts === 1
    ? declined(told.errorCode, 'refused by the rail')
    : 'doubtful';
}

/**
 * How an order stands, by the rail's own answer: that is believed. Only its clear word ends a payout; "no such order" is
 * one only when nothing can still be under way, and even then it permits the same order again rather than saying no.
 * @param told the message that led to asking, if one did
 */
export function judgeStanding(
  payout: Judged | null,
  standing: OrderStanding,
  isTaken: IsTaken,
  told: Told | null,
): Judgement {
  const judgement = ofStanding(payout, standing, isTaken);
  const status = judgement.move?.to ?? payout?.status ?? null;
  return { ...judgement, oddities: [...judgement.oddities, ...unfit(status, standing, told)] };
}

/**
 * Whether the rail's answer bears a message out. When not, the answer may simply be older: a rail's books follow its
 * messages by a moment.
 */
export function standsBy({ state, executionId }: OrderStanding, told: Told): boolean {
  if (told.kind === 'paid') return state === 'settled' && executionId === told.executionId;
  return state === 'rejected' || state === 'settled';
}

function ofStanding(payout: Judged | null, standing: OrderStanding, isTaken: IsTaken): Judgement {
  switch (standing.state) {
    case 'settled':
      return settled(payout, standing, isTaken);
    case 'rejected':
      if (payout?.status === 'PROCESSING')
        return declined(standing.errorCode ?? 'RAIL_REJECTED', 'rejected by the rail');
      return payout?.status === 'CONFIRMED' ? { ...NOTHING, oddities: [contradiction()] } : NOTHING;
    case 'not_found':
      return payout === null ? NOTHING : notFound(payout);
    case 'processing':
      return NOTHING;
  }
}

function settled(payout: Judged | null, { executionId, amount }: OrderStanding, isTaken: IsTaken): Judgement {
  if (executionId === null || amount === null) throw new Error('settled without an execution');
  // One execution pays one payout: the rail contradicts itself, its money is booked already, and a person must look.
  if (isTaken(executionId))
    return { ...NOTHING, oddities: [{ kind: 'contradiction', executionId, amount: null }] };
  const money = (kind: Oddity['kind']): Judgement => ({
    ...NOTHING,
    oddities: [{ kind, executionId, amount }],
  });
  if (payout === null) return money('unmatched');
  if (payout.status === 'PROCESSING') {
    // Another amount than ours: nobody here can say what happened, so a person must look, and it stays unknown.
    if (amount !== payout.amount)
      return { ...NOTHING, oddities: [{ kind: 'contradiction', executionId, amount: null }] };
    return confirmed(executionId, 'settled, when asked');
  }
  if (payout.status === 'CONFIRMED') {
    // One order is executed once: what an operator confirmed is this.
    if (payout.executionId === null && amount === payout.amount) return { ...NOTHING, adopt: executionId };
    return payout.executionId === executionId ? NOTHING : money('sent_again');
  }
  return money('sent_late');
}

function notFound(payout: Judged): Judgement {
  if (payout.status !== 'PROCESSING' || payout.attempts === 0 || !payout.nothingUnderWay) return NOTHING;
  if (payout.refusal !== null) return declined(payout.refusal, 'refused by the rail');
  return { ...NOTHING, sendAgain: payout.refusesDuplicates };
}

function confirmed(executionId: string, cause: MoveCause): Judgement {
  return { ...NOTHING, move: { to: 'CONFIRMED', errorCode: null, executionId, cause } };
}

function declined(errorCode: RailErrorCode, cause: MoveCause): Judgement {
  return { ...NOTHING, move: { to: 'DECLINED', errorCode, executionId: null, cause } };
}

function contradiction(): Oddity {
  return { kind: 'contradiction', executionId: null, amount: null };
}

/** A message that the rail, asked, does not stand by. */
function unfit(status: PayoutStatus | null, standing: OrderStanding, told: Told | null): Oddity[] {
  if (told === null || standsBy(standing, told)) return [];
  const executionId = told.kind === 'paid' ? told.executionId : null;
  if (status === null) return [{ kind: 'unmatched', executionId, amount: null }];
  return told.kind === 'paid' ? [{ kind: 'unfounded', executionId, amount: null }] : [];
}
