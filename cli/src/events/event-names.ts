import type { EventName } from '@caudal/sdk';

/** A Record, so that a name missing here is a compile error. */
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

/** Every event that an endpoint can subscribe to. */
export const EVENT_NAMES = Object.keys(NAMES) as EventName[];

/** Names that can filter a list: also the test event, which endpoints cannot subscribe to. */
export const LISTED_EVENT_NAMES = [...EVENT_NAMES, 'webhook.test'] as const;

export type { EventName };
