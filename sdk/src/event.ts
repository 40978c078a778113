import type {
  BrebPayin,
  DeliveryWithEndpoint,
  ErrorCode,
  PaymentLinkWithDetails,
  Payout,
  PsePayin,
} from './generated/schemas.ts';

/** Fields of `data`, by resource: the types below are made from them, and a test holds real events against them. */
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
type With<Data, Facts> = Data extends unknown ? Omit<Data, keyof Facts> & Facts : never;

/** The payin as it was when it ended. */
export type PayinEventData = Pick<BrebPayin, Fields<'payin'>> | Pick<PsePayin, Fields<'payin'>>;
/** The payout as it was when it ended. */
export type PayoutEventData = Pick<Payout, Fields<'payout'>>;
/** The payment link as it was when it ended. */
export type PaymentLinkEventData = Pick<
  PaymentLinkWithDetails & { updatedAt: string },
  Fields<'paymentlink'>
>;

interface EventOf<Name extends string, Resource extends string, Data> {
  /** Also `webhook-id` of every delivery: the same event may come more than once, drop by it what you have. */
  id: string;
  event: Name;
  resource: Resource;
  /** UTC, with milliseconds. */
  createdAt: string;
  data: Data;
}

interface Paid {
  status: 'CONFIRMED';
  /** What confirmed it: compare it with your order. It is `amount`, unless your organization takes any amount. */
  confirmedAmount: number;
  confirmedAmountInCents: number;
  errorCode: null;
  resultAt: string;
}
interface Ended<Status extends string> {
  status: Status;
  errorCode: ErrorCode | null;
  resultAt: string;
}

export type PayinConfirmedEvent = EventOf<'payin.confirmed', 'payin', With<PayinEventData, Paid>>;
export type PayinDeclinedEvent = EventOf<'payin.declined', 'payin', With<PayinEventData, Ended<'DECLINED'>>>;
export type PayinCanceledEvent = EventOf<'payin.canceled', 'payin', With<PayinEventData, Ended<'CANCELED'>>>;
export type PayoutConfirmedEvent = EventOf<
  'payout.confirmed',
  'payout',
  With<PayoutEventData, { status: 'CONFIRMED'; errorCode: null; resultAt: string }>
>;
export type PayoutDeclinedEvent = EventOf<
  'payout.declined',
  'payout',
  With<PayoutEventData, Ended<'DECLINED'>>
>;
export type PayoutCanceledEvent = EventOf<
  'payout.canceled',
  'payout',
  With<PayoutEventData, Ended<'CANCELED'>>
>;
export type PaymentLinkCompletedEvent = EventOf<
  'paymentlink.completed',
  'paymentlink',
  With<PaymentLinkEventData, { status: 'COMPLETED'; completedAt: string }>
>;
export type PaymentLinkExpiredEvent = EventOf<
  'paymentlink.expired',
  'paymentlink',
  With<PaymentLinkEventData, { status: 'EXPIRED'; completedAt: null }>
>;
/** What `webhookEndpoints.test` sends: about nothing. */
export type WebhookTestEvent = EventOf<
  'webhook.test',
  'webhook',
  { webhookEndpointId: string; reference?: undefined; status?: undefined }
>;

/** Every event, told apart by `event`. Newer servers may send others: let your program pass over what it does not know. */
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

/** The event of a name. */
export type EventNamed<Name extends string> = Extract<CaudalEvent, { event: Name }>;

export type CaudalEventWithDeliveries = CaudalEvent & { deliveries: DeliveryWithEndpoint[] };
