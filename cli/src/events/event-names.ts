import type { EventName } from '@caudal/sdk';

/** A record, so that the compiler misses one that was added to the API. */
const NAMES: Readonly<Record<EventName, true>> = {
  'payin.confirmed': true,
  'payin.canceled': true,
  'payin.declined': true,
  'payout.confirmed': true,
  'payout.canceled': true,
  'payout.declined': true,
  'paymentlink.completed': true,
  'paymentlink.expired': true,
};

/** Every event a merchant hears of. */
export const EVENT_NAMES = Object.keys(NAMES) as EventName[];

/** What a list can be narrowed to: also the test, which no endpoint asks for. */
export const LISTED_EVENT_NAMES = [...EVENT_NAMES, 'webhook.test'] as const;

export type { EventName };
