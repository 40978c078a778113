import { LISTED_EVENT_NAMES, type ListedEventName } from '../../events/event.ts';
import { PAYIN_EXAMPLE } from './payin.schema.ts';
import { LINK_DETAILS_EXAMPLE } from './payment-link.schema.ts';
import { PAYOUT_EXAMPLE } from './payout.schema.ts';
import { ENDPOINT_EXAMPLE } from './webhook-endpoint.schema.ts';

interface EventText {
  /** Prefix of the event's schemas in OpenAPI, and of its types in the SDK. */
  readonly type: string;
  readonly when: string;
  /** The resource after the event, with all its fields. */
  readonly example: object;
}

export const EVENT_EXAMPLE_TIME = '2026-11-14T15:06:07.890Z';

const payin = { ...PAYIN_EXAMPLE, updatedAt: EVENT_EXAMPLE_TIME, resultAt: EVENT_EXAMPLE_TIME };
const payout = { ...PAYOUT_EXAMPLE, updatedAt: EVENT_EXAMPLE_TIME, resultAt: EVENT_EXAMPLE_TIME };
const link = { ...LINK_DETAILS_EXAMPLE, updatedAt: EVENT_EXAMPLE_TIME };

/** When each event is sent, and an example. A missing event is a compile error. */
const EVENTS: Readonly<Record<ListedEventName, EventText>> = {
  'payin.confirmed': {
    type: 'PayinConfirmed',
    when: 'The payer paid. `confirmedAmountInCents` is `amountInCents`, unless your organization accepts any amount: compare it with your order before you ship.',
    example: {
      ...payin,
      status: 'CONFIRMED',
      confirmedAmount: payin.amount,
      confirmedAmountInCents: payin.amountInCents,
      sourceData: { ...payin.sourceData, endToEndId: '20261114900000002TFY8Q2M9K4H7XWER3N' },
    },
  },
  'payin.canceled': {
    type: 'PayinCanceled',
    when: 'The payin ended unpaid: the payer canceled or abandoned it, or it expired. `errorCode` has the reason.',
    example: { ...payin, status: 'CANCELED', errorCode: 'EXPIRED' },
  },
  'payin.declined': {
    type: 'PayinDeclined',
    when: 'The bank or the network declined it, or less than the amount arrived (`UNDERPAID`). `errorCode` has the reason.',
    example: {
      ...payin,
      status: 'DECLINED',
      errorCode: 'INSUFFICIENT_FUNDS',
      rail: 'PSE',
      sourceData: { pseUrl: 'https://bank.example.com/pse/7Q2M9', bank: 'CO_NEQUI', cus: '3987654321' },
    },
  },
  'payout.confirmed': {
    type: 'PayoutConfirmed',
    when: 'The money reached the receiver.',
    example: { ...payout, status: 'CONFIRMED' },
  },
  'payout.canceled': {
    type: 'PayoutCanceled',
    when: 'You canceled it before it was sent. The money is available again.',
    example: { ...payout, status: 'CANCELED' },
  },
  'payout.declined': {
    type: 'PayoutDeclined',
    when: 'It was rejected, or your balance was insufficient. The money is available again; `errorCode` has the reason.',
    example: { ...payout, status: 'DECLINED', errorCode: 'ACCOUNT_NOT_FOUND' },
  },
  'paymentlink.completed': {
    type: 'PaymentLinkCompleted',
    when: 'A payer paid the link. This is the only event of the payment: the payins of a link send no `payin.*` events.',
    example: { ...link, status: 'COMPLETED', expiresAt: null, completedAt: EVENT_EXAMPLE_TIME },
  },
  'paymentlink.expired': {
    type: 'PaymentLinkExpired',
    when: 'The link expired unpaid after its hour, or you closed it.',
    example: { ...link, status: 'EXPIRED' },
  },
  'api_key.used_from_new_network': {
    type: 'ApiKeyUsedFromNewNetwork',
    when: 'A request with the full secret of an API key, or with one of its access tokens, came from a network that the API key was not used from before. Sent once per API key and network, at most 20 times a day per API key; the first network of an API key has no event, unless its address allow-list rejected the request. If the request is not yours, have the API key revoked at once.',
    example: {
      apiKeyId: '0100000000000000',
      name: 'payouts',
      network: '203.0.113.0/24',
      allowed: true,
      seenAt: EVENT_EXAMPLE_TIME,
      organizationId: PAYIN_EXAMPLE.organizationId,
    },
  },
  'webhook.test': {
    type: 'WebhookTest',
    when: '`POST /webhook-endpoints/{id}/test` sends it to that one endpoint. It is not about a resource: acknowledge it and do nothing else. `GET /events` and the live stream show it too; endpoints cannot subscribe to it, and it is not replayed.',
    example: { webhookEndpointId: ENDPOINT_EXAMPLE.id },
  },
};

/** An object with one member per event. */
export function mapEvents<Value>(
  toValue: (event: ListedEventName, text: EventText) => Value,
): Record<ListedEventName, Value> {
  return Object.fromEntries(
    LISTED_EVENT_NAMES.map((event) => [event, toValue(event, EVENTS[event])]),
  ) as Record<ListedEventName, Value>;
}
