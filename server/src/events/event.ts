/** Every event type a merchant can receive. */
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
type EventName = (typeof EVENT_NAMES)[number];

/** Sent to one endpoint by `POST /webhook-endpoints/{id}/test`. */
export const TEST_EVENT = 'webhook.test';

/** Every event that lists and streams contain. */
export const LISTED_EVENT_NAMES = [...EVENT_NAMES, TEST_EVENT] as const;
export type ListedEventName = (typeof LISTED_EVENT_NAMES)[number];

/** `data` is a snapshot taken in the transaction that changed the state; deliveries never render it again. */
export interface NewEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly event: EventName;
  readonly resource: 'payin' | 'payout' | 'paymentlink' | 'api_key';
  /** Null for an API key, whose id is not a UUID. */
  readonly resourceId: string | null;
  readonly createdAt: Date;
  readonly data: object;
  /** The trace of the resource; null when it is not sampled. */
  readonly traceContext: Buffer | null;
}

/** Builds the body of the delivery. */
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
