import type { LinkAction } from './link-step.ts';
import type { PayCall, PayoutAction, ScriptedPayoutAction } from './payout-step.ts';
import type { Rail } from './rail.ts';

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
export const CALL_FAULTS = ['lost-answer', 'down', 'reset', 'hang', 'slow', 'rate-limited'] as const;
export const CALLS = ['open', 'query', 'close'] as const;
export const ENDINGS = ['refused', 'canceled', 'limit', 'failed'] as const;

export type Ending = (typeof ENDINGS)[number];
export type Call = (typeof CALLS)[number];

/** A merchant's request. `refused`: a payer that the rail rejects. `none`: no customer. */
export interface Order {
  readonly rail: Rail;
  readonly cents: number;
  readonly payer: 'plain' | 'none' | 'refused';
  /** Whether the request carries an idempotency key. */
  readonly idempotent: boolean;
}

/** `nth` is an index into the payins of the history, modulo their number, so that shortened histories stay valid. */
type Action =
  | ({ readonly do: 'create'; readonly api: 0 | 1 } & Order)
  | {
      readonly do: 'repeat';
      readonly nth: number;
      readonly how: 'same' | 'other_body' | 'other_key';
      readonly api: 0 | 1;
    }
  /** Two equal concurrent requests, one on each API. */
  | ({ readonly do: 'concurrent_payins' } & Order)
  | {
      readonly do: 'pay';
      readonly nth: number;
      readonly share: 'full' | 'less' | 'more';
      readonly times: 1 | 2;
      /** Pays even if the rail would reject it, like a payment in flight when the key was closed. */
      readonly anyway: boolean;
    }
  /** A payment to a key that was never created. */
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
  /** The directory rejects the next lookup, whatever its key. */
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
  /** Advances time until this much is left before the payin's expiry. */
  | { readonly do: 'near_expiry'; readonly nth: number; readonly leftMs: number }
  /** Pays or ends the payin at the moment of its expiry. */
  | { readonly do: 'race'; readonly nth: number; readonly with: 'payment' | Ending }
  /** Pays both payins while the organization's balance is locked, so the workers that apply the payments wait. */
  | { readonly do: 'contend'; readonly nth: number; readonly other: number }
  /** The merchant accepts money in suspense, concurrently on every API with one idempotency key. */
  | { readonly do: 'accept'; readonly nth: number }
  | { readonly do: 'settle' }
  | { readonly do: 'read'; readonly nth: number }
  | { readonly do: 'balance' }
  | PayoutAction
  | LinkAction
  | ScriptedAction;

/** Only for regression histories and planted bugs: these take seconds, or are meaningless alone. */
type ScriptedAction =
  | { readonly do: 'lock'; readonly what: 'balance' | 'notices' }
  | { readonly do: 'lock'; readonly what: 'payin' | 'payout'; readonly nth: number }
  /** Waits until this many server transactions wait for locks. */
  | { readonly do: 'await_lock_waiters'; readonly count: number }
  /** Waits until faults have applied this often. */
  | { readonly do: 'await_faults'; readonly count: number }
  /** Waits until a notice has been acknowledged. */
  | { readonly do: 'await_acknowledged' }
  | { readonly do: 'release_locks' }
  | { readonly do: 'kill_workers' }
  /** Makes every lease twenty seconds older. */
  | { readonly do: 'age_leases' }
  | ScriptedPayoutAction;

/** `awaitIdle`: waits until all resulting work is done and checks the invariants before the next step. */
export type Step = Action & { readonly awaitIdle?: boolean };
