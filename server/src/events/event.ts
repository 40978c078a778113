/** Every event a merchant can be told of (interface.md). */
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
type EventName = (typeof EVENT_NAMES)[number];

/** What `…/test` sends, to one endpoint: about nothing. */
export const TEST_EVENT = 'webhook.test';

/** A fact, as it will be delivered: `data` is a snapshot taken in the transaction of the fact, never rendered later. */
export interface NewEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly event: EventName;
  readonly resource: 'payin' | 'payout' | 'paymentlink';
  readonly resourceId: string;
  readonly createdAt: Date;
  readonly data: object;
}

/** The body of the delivery. */
export function eventBody({
  id,
  event,
  resource,
  createdAt,
  data,
}: Pick<NewEvent, 'id' | 'createdAt' | 'data'> & {
  readonly event: string;
  readonly resource: string;
}): string {
  return JSON.stringify({ id, event, resource, createdAt: createdAt.toISOString(), data });
}
