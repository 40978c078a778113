/** Faults of calls, aimed at those that send money. */
export const PAY_CALLS = ['order', 'order-query', 'resolve'] as const;
export type PayCall = (typeof PAY_CALLS)[number];

/** `own`: a key that only this history uses, so that it may change hands. The others are the rail's test keys. */
export const RECEIVERS = ['ok', 'declined', 'never', 'lost answer', 'suspended', 'missing', 'own'] as const;
export type Receiver = (typeof RECEIVERS)[number];

export const ORDER_ENDINGS = ['settled', 'refused', 'limit', 'fraud'] as const;
export type OrderEnding = (typeof ORDER_ENDINGS)[number];

export const LISTINGS = ['other person', 'suspended', 'gone', 'back'] as const;
export type Listing = (typeof LISTINGS)[number];

export interface PayoutOrder {
  readonly to: Receiver;
  readonly cents: number;
  /** False: so much more than there is. */
  readonly covered: boolean;
  /** Looked up before, and paid by that very lookup or by whichever is the newest. */
  readonly lookUp: 'no' | 'newest' | 'named';
  readonly keyed: boolean;
}

/** `nth` counts the payouts of the history and goes round; -1 is the last. */
export type PayoutAction =
  | ({ readonly do: 'payout'; readonly api: 0 | 1 } & PayoutOrder)
  /** Canceled as soon as its creation is answered, before anybody looks: workers may have sent it by then. */
  | ({ readonly do: 'fleeting payout'; readonly api: 0 | 1; readonly both: boolean } & PayoutOrder)
  /** Two equal requests at the same time, one on each API. */
  | ({ readonly do: 'payout twins' } & PayoutOrder)
  /**
   * Two payouts at the same time, one on each API, each of more than half of all there is. `meet`: somebody else holds the
   * balance until both are at it.
   */
  | { readonly do: 'rivals'; readonly meet: boolean }
  | {
      readonly do: 'repeat payout';
      readonly nth: number;
      readonly how: 'same' | 'other body' | 'other key';
      readonly api: 0 | 1;
    }
  /** `both`: on both APIs at the same time. */
  | { readonly do: 'cancel'; readonly nth: number; readonly both: boolean }
  | { readonly do: 'look up'; readonly to: Receiver; readonly api: 0 | 1 }
  /** The history's own key changes. */
  | { readonly do: 'directory'; readonly how: Listing }
  /** `anyway`: also where it has ended. After a rejection money leaves all the same; else it is only said. */
  | { readonly do: 'end order'; readonly nth: number; readonly how: OrderEnding; readonly anyway: boolean }
  | { readonly do: 'read payout'; readonly nth: number };

/** For kept histories and planted bugs: they cost seconds. */
export type ScriptedPayoutAction =
  /** Nothing of the organization leaves until it is resumed. */
  | { readonly do: 'pause' }
  | { readonly do: 'resume' }
  /** The workers start anew, to die at this failpoint. */
  | { readonly do: 'arm workers'; readonly failpoint: string }
  /** Until they have died of it; then they start as usual. */
  | { readonly do: 'await death' };
