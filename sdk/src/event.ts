import type {
  BrebPayin,
  DeliveryWithEndpoint,
  ErrorCode,
  PaymentLinkWithDetails,
  Payout,
  PsePayin,
} from './generated/schemas.ts';

/** Fields of `data` by resource. The types below derive from them, and a test compares them with real events. */
export const EVENT_FIELDS = {
  payin: [
    'id',
    'reference',
    'amount',
    'amountInCents',
    'confirmedAmount',
    'confirmedAmountInCents',
    'currency',
    'status',
    'rail',
    'sourceData',
    'errorCode',
    'createdAt',
    'updatedAt',
    'resultAt',
    'organizationId',
  ],
  payout: [
    'id',
    'reference',
    'amount',
    'amountInCents',
    'currency',
    'status',
    'rail',
    'sourceData',
    'errorCode',
    'createdAt',
    'updatedAt',
    'resultAt',
    'organizationId',
  ],
  paymentlink: [
    'paymentLinkId',
    'reference',
    'amount',
    'currency',
    'status',
    'createdAt',
    'updatedAt',
    'expiresAt',
    'completedAt',
  ],
} as const;

type Fields<Resource extends keyof typeof EVENT_FIELDS> = (typeof EVENT_FIELDS)[Resource][number];
type Override<Data, Facts> = Data extends unknown ? Omit<Data, keyof Facts> & Facts : never;

/** Snapshot of the payin at its final status. */
export type PayinEventData = Pick<BrebPayin, Fields<'payin'>> | Pick<PsePayin, Fields<'payin'>>;
/** Snapshot of the payout at its final status. */
export type PayoutEventData = Pick<Payout, Fields<'payout'>>;
/** Snapshot of the payment link at its final status. */
export type PaymentLinkEventData = Pick<
  PaymentLinkWithDetails & { updatedAt: string },
  Fields<'paymentlink'>
>;

interface EventEnvelope<Name extends string, Resource extends string, Data> {
  /** Also the `webhook-id` of every delivery. An event may be delivered more than once: deduplicate by this id. */
  id: string;
  event: Name;
  resource: Resource;
  /** UTC, with milliseconds. */
  createdAt: string;
  data: Data;
}

interface ConfirmedFields {
  status: 'CONFIRMED';
  /** The amount paid: compare it with your order. Equals `amount`, unless your organization accepts any amount. */
  confirmedAmount: number;
  confirmedAmountInCents: number;
  errorCode: null;
  resultAt: string;
}
interface EndedFields<Status extends string> {
  status: Status;
  errorCode: ErrorCode | null;
  resultAt: string;
}

export type PayinConfirmedEvent = EventEnvelope<
  'payin.confirmed',
  'payin',
  Override<PayinEventData, ConfirmedFields>
>;
export type PayinDeclinedEvent = EventEnvelope<
  'payin.declined',
  'payin',
  Override<PayinEventData, EndedFields<'DECLINED'>>
>;
export type PayinCanceledEvent = EventEnvelope<
  'payin.canceled',
  'payin',
  Override<PayinEventData, EndedFields<'CANCELED'>>
>;
export type PayoutConfirmedEvent = EventEnvelope<
  'payout.confirmed',
  'payout',
  Override<PayoutEventData, { status: 'CONFIRMED'; errorCode: null; resultAt: string }>
>;
export type PayoutDeclinedEvent = EventEnvelope<
  'payout.declined',
  'payout',
  Override<PayoutEventData, EndedFields<'DECLINED'>>
>;
export type PayoutCanceledEvent = EventEnvelope<
  'payout.canceled',
  'payout',
  Override<PayoutEventData, EndedFields<'CANCELED'>>
>;
export type PaymentLinkCompletedEvent = EventEnvelope<
  'paymentlink.completed',
  'paymentlink',
  Override<PaymentLinkEventData, { status: 'COMPLETED'; completedAt: string }>
>;
export type PaymentLinkExpiredEvent = EventEnvelope<
  'paymentlink.expired',
  'paymentlink',
  Override<PaymentLinkEventData, { status: 'EXPIRED'; completedAt: null }>
>;
/** Sent by `webhookEndpoints.test`; not about a resource. */
export type WebhookTestEvent = EventEnvelope<
  'webhook.test',
  'webhook',
  { webhookEndpointId: string; reference?: undefined; status?: undefined }
>;

/** Every event, discriminated by `event`. A newer server may send other events: ignore unknown ones. */
export type CaudalEvent =
  | PayinConfirmedEvent
  | PayinDeclinedEvent
  | PayinCanceledEvent
  | PayoutConfirmedEvent
  | PayoutDeclinedEvent
  | PayoutCanceledEvent
  | PaymentLinkCompletedEvent
  | PaymentLinkExpiredEvent
  | WebhookTestEvent;

/** The event type with a name. */
export type EventNamed<Name extends string> = Extract<CaudalEvent, { event: Name }>;

export type CaudalEventWithDeliveries = CaudalEvent & { deliveries: DeliveryWithEndpoint[] };
