/** Every event a merchant hears of. */
export const EVENT_NAMES = [
  'payin.confirmed',
  'payin.canceled',
  'payin.declined',
  'payout.confirmed',
  'payout.canceled',
  'payout.declined',
  'paymentlink.completed',
  'paymentlink.expired',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];
