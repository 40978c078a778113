// Made by `npm run generate`.

/** Every event that an endpoint can subscribe to. */
export const EVENT_NAMES = [
  'payin.confirmed',
  'payin.canceled',
  'payin.declined',
  'payout.confirmed',
  'payout.canceled',
  'payout.declined',
  'paymentlink.completed',
  'paymentlink.expired',
  'api_key.used_from_new_network',
] as const;
