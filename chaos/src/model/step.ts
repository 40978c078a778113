import type { PayCall, PayoutAction, ScriptedPayoutAction } from './payout-step.ts';

export type Rail = 'BRE_B' | 'PSE';

export const NOTICE_FAULTS = [
  'duplicate',
  'reorder',
  'wrong-amount',
  'unknown-id',
  'bad-signature',
  'lost-notice',
  'lost-answer',
  'reset',
  'slow',
  'down',
] as const;
export const CALL_FAULTS = ['lost-answer', 'down', 'reset', 'hang', 'slow'] as const;
export const CALLS = ['open', 'ask', 'close'] as const;
export const ENDINGS = ['refused', 'canceled', 'limit', 'failed'] as const;

export type Ending = (typeof ENDINGS)[number];
export type Call = (typeof CALLS)[number];

/** What a merchant asks for. `refused`: a payer for whom the rail opens nothing. `none`: nobody is named. */
export interface Order {
  readonly rail: Rail;
  readonly cents: number;
  readonly payer: 'plain' | 'none' | 'refused';
  /** Whether the request carries an idempotency key. */
  readonly keyed: boolean;
}

/** `nth` counts the payins of the history and goes round, so that a shorter history still means something. */
type Action =
  | ({ readonly do: 'create'; readonly api: 0 | 1 } & Order)
  | {
      readonly do: 'repeat';
      readonly nth: number;
      readonly how: 'same' | 'other body' | 'other key';
      readonly api: 0 | 1;
    }
  /** Two equal requests at the same time, one on each API. */
  | ({ readonly do: 'twins' } & Order)
  | {
      readonly do: 'pay';
      readonly nth: number;
      readonly share: 'full' | 'less' | 'more';
      readonly times: 1 | 2;
      /** Also where the rail would refuse: an order that was under way when the door shut. */
      readonly anyway: boolean;
    }
  /** Money on a key that nobody ever minted. */
  | { readonly do: 'stray'; readonly cents: number }
  | { readonly do: 'end'; readonly nth: number; readonly how: Ending; readonly anyway: boolean }
  | {
      readonly do: 'fault';
      readonly rail: Rail;
      readonly on: 'notice';
      readonly fault: (typeof NOTICE_FAULTS)[number];
      readonly times: number;
    }
  | {
      readonly do: 'fault';
      readonly rail: Rail;
      readonly on: Call;
      readonly fault: (typeof CALL_FAULTS)[number];
      readonly times: number;
    }
  | {
      readonly do: 'fault';
      readonly rail: 'BRE_B';
      readonly on: PayCall;
      readonly fault: (typeof CALL_FAULTS)[number];
      readonly times: number;
    }
  /** The directory says so of whatever key is looked up next. */
  | {
      readonly do: 'fault';
      readonly rail: 'BRE_B';
      readonly on: 'resolve';
      readonly fault: 'rejected';
      readonly code: '0004' | '0006' | '5000';
      readonly times: number;
    }
  | { readonly do: 'clear' }
  | { readonly do: 'shift'; readonly seconds: number }
  /** Until this much is left of the payin's time. */
  | { readonly do: 'near expiry'; readonly nth: number; readonly leftMs: number }
  /** Paid, or ended, in the moment in which its time runs out. */
  | { readonly do: 'race'; readonly nth: number; readonly with: 'payment' | Ending }
  /** Both are paid while somebody else holds the organization's balance: whoever applies it must wait. */
  | { readonly do: 'contend'; readonly nth: number; readonly other: number }
  /** The merchant takes money of the payin that is in suspense; asked on every API at once, with one key. */
  | { readonly do: 'accept'; readonly nth: number }
  | { readonly do: 'settle' }
  | { readonly do: 'read'; readonly nth: number }
  | { readonly do: 'balance' }
  | PayoutAction
  | ScriptedAction;

/** For kept histories and planted bugs, never drawn at random: they cost seconds, or mean nothing alone. */
type ScriptedAction =
  | { readonly do: 'hold'; readonly what: 'balance' | 'notices' }
  | { readonly do: 'hold'; readonly what: 'payin' | 'payout'; readonly nth: number }
  /** Until so many transactions of the server wait for what is held. */
  | { readonly do: 'await waiters'; readonly count: number }
  /** Until faults have struck so often. */
  | { readonly do: 'await struck'; readonly count: number }
  /** Until the rail believes that a notice has arrived. */
  | { readonly do: 'await acknowledged' }
  | { readonly do: 'let go' }
  | { readonly do: 'kill workers' }
  /** As if every claim were twenty seconds older. */
  | { readonly do: 'age claims' }
  | ScriptedPayoutAction;

/** `quiet`: everything that follows from it is waited for, and judged, before the next. */
export type Step = Action & { readonly quiet?: boolean };
