/** Rail calls of payouts that faults target. */
export const PAY_CALLS = ['order', 'order-query', 'resolve'] as const;
export type PayCall = (typeof PAY_CALLS)[number];

/** `own`: a key used only by this history, so its owner may change. The others are the rail's test keys. */
export const RECEIVERS = ['ok', 'declined', 'never', 'lost_answer', 'suspended', 'missing', 'own'] as const;
export type Receiver = (typeof RECEIVERS)[number];

export const ORDER_ENDINGS = ['settled', 'refused', 'limit', 'fraud'] as const;
export type OrderEnding = (typeof ORDER_ENDINGS)[number];

export const LISTINGS = ['other_person', 'suspended', 'gone', 'back'] as const;
export type Listing = (typeof LISTINGS)[number];

export interface PayoutOrder {
  readonly to: Receiver;
  readonly cents: number;
  /** False: the amount exceeds the balance by `cents`. */
  readonly covered: boolean;
  /** Looks the key up first; `named` pays with that lookup, `newest` with the latest one. */
  readonly lookUp: 'no' | 'newest' | 'named';
  readonly idempotent: boolean;
}

/** `nth` is an index into the payouts of the history, modulo their number; -1 is the last. */
export type PayoutAction =
  | ({ readonly do: 'payout'; readonly api: 0 | 1 } & PayoutOrder)
  /** Canceled as soon as its creation is answered; workers may already have sent it. */
  | ({ readonly do: 'payout_then_cancel'; readonly api: 0 | 1; readonly both: boolean } & PayoutOrder)
  /** Two equal concurrent requests, one on each API. */
  | ({ readonly do: 'concurrent_payouts' } & PayoutOrder)
  /**
   * Two concurrent payouts, one on each API, each of more than half of the balance. `meet`: a lock on the balance is held
   * until both wait for it.
   */
  | { readonly do: 'competing_payouts'; readonly meet: boolean }
  | {
      readonly do: 'repeat_payout';
      readonly nth: number;
      readonly how: 'same' | 'other_body' | 'other_key';
      readonly api: 0 | 1;
    }
  /** `both`: concurrently on both APIs. */
  | { readonly do: 'cancel'; readonly nth: number; readonly both: boolean }
  | { readonly do: 'look_up'; readonly to: Receiver; readonly api: 0 | 1 }
  /** The history's own key changes. */
  | { readonly do: 'directory'; readonly how: Listing }
  /** `anyway`: even if it has ended. After a rejection the money is sent; otherwise only a contradicting notice is. */
  | { readonly do: 'end_order'; readonly nth: number; readonly how: OrderEnding; readonly anyway: boolean }
  | { readonly do: 'read_payout'; readonly nth: number };

/** Only for regression histories and planted bugs, since they take seconds. */
export type ScriptedPayoutAction =
  /** Pauses the organization's orders until `resume`. */
  | { readonly do: 'pause' }
  | { readonly do: 'resume' }
  /** Restarts the workers, which die at this failpoint. */
  | { readonly do: 'arm_workers'; readonly failpoint: string }
  /** Waits until a worker has died, then restarts all workers normally. */
  | { readonly do: 'await_worker_death' };
