import { EVENT_NAMES, eventBody, TEST_EVENT } from '../../server/src/events/event.ts';
import { cents } from '../../server/src/kit/money.ts';
import { payinEventData } from '../../server/src/payins/payin.event.ts';
import type { Payin } from '../../server/src/payins/payin.ts';
import { linkEventData } from '../../server/src/payment-links/payment-link.event.ts';
import type { PaymentLink } from '../../server/src/payment-links/payment-link.ts';
import { payoutEventData } from '../../server/src/payouts/payout.event.ts';
import type { Payout } from '../../server/src/payouts/payout.ts';
import { block, code, parts, table } from './markdown.ts';
import type { Page } from './page.ts';

type EventName = (typeof EVENT_NAMES)[number];

const CREATED = new Date('2026-11-14T15:04:05.678Z');
const ENDED = new Date('2026-11-14T15:06:07.890Z');
const ORGANIZATION = '019b2c5e-0000-7a10-8001-9d2b7a6c1033';

const PAYIN: Payin = {
  id: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10',
  organizationId: ORGANIZATION,
  amount: cents(4_980_000),
  confirmedAmount: null,
  status: 'CONFIRMED',
  settlementStatus: null,
  errorCode: null,
  reference: 'order-1001',
  paymentLinkId: null,
  customer: null,
  callbackUrl: null,
  source: { rail: 'BRE_B', keyType: 'SINGLE_USE', key: '@CDL0102H3K9M2X7QWER' },
  endToEndId: null,
  createdAt: CREATED,
  updatedAt: ENDED,
  expiresAt: new Date('2026-11-14T16:04:05.678Z'),
  resultAt: ENDED,
  chargebackAt: null,
};

const PAYOUT: Payout = {
  id: '019b2c5f-1b20-7f02-8001-5c1d0e9f8a7b',
  organizationId: ORGANIZATION,
  amount: cents(12_500_000),
  status: 'CONFIRMED',
  errorCode: null,
  reference: 'salary-1001',
  customer: null,
  brebKey: '@TESTOK',
  endToEndId: '01KC7RY6S0FR10G02AW70X5YRK000001',
  createdAt: CREATED,
  updatedAt: ENDED,
  resultAt: ENDED,
};

const LINK: PaymentLink = {
  id: '019b2c60-44aa-7d15-8001-0b9c8d7e6f5a',
  organizationId: ORGANIZATION,
  amount: cents(4_980_000),
  reference: 'order-2001',
  description: null,
  callbackUrl: 'https://shop.example.com/thanks',
  rail: null,
  pseBank: null,
  customer: null,
  status: 'COMPLETED',
  createdAt: CREATED,
  updatedAt: ENDED,
  expiresAt: new Date('2026-11-14T16:04:05.678Z'),
  closesAt: new Date('2026-11-14T16:04:05.678Z'),
  openPayinId: null,
  completedAt: ENDED,
  payinId: PAYIN.id,
};

const TOKENS = {
  cell: 0,
  checkoutUrl: 'https://pay.example.com',
  checkoutTokens: { make: () => 'AQ3kN0c' } as unknown as Parameters<
    typeof payinEventData
  >[0]['checkoutTokens'],
};

const payin = (changes: Partial<Payin>) => payinEventData(TOKENS, 1, { ...PAYIN, ...changes });
const payout = (changes: Partial<Payout>) => payoutEventData({ ...PAYOUT, ...changes });

/** Meaning of each event, and its `data` as built by server code. A missing event is a compile error. */
const EVENTS: Readonly<Record<EventName, { readonly when: string; readonly data: object }>> = {
  'payin.confirmed': {
    when: 'The payer paid. `confirmedAmountInCents` is `amountInCents`, unless your organization accepts any amount: compare it with your order before you ship.',
    data: payin({
      confirmedAmount: cents(4_980_000),
      endToEndId: '20261114900000002TFY8Q2M9K4H7XWER3N',
    }),
  },
  'payin.canceled': {
    when: 'The payin ended unpaid: the payer canceled or abandoned it, or it expired. `errorCode` has the reason.',
    data: payin({ status: 'CANCELED', errorCode: 'EXPIRED' }),
  },
  'payin.declined': {
    when: 'The bank or the network declined it, or less than the amount arrived (`UNDERPAID`). `errorCode` has the reason.',
    data: payin({
      status: 'DECLINED',
      errorCode: 'INSUFFICIENT_FUNDS',
      source: {
        rail: 'PSE',
        bank: 'CO_NEQUI',
        personType: 'INDIVIDUAL',
        page: { url: 'https://bank.example.com/pse/7Q2M9', at: CREATED, cus: '3987654321' },
      },
    }),
  },
  'payout.confirmed': { when: 'The money reached the receiver.', data: payout({}) },
  'payout.canceled': {
    when: 'You canceled it before it was sent. The money is available again.',
    data: payout({ status: 'CANCELED' }),
  },
  'payout.declined': {
    when: 'It was rejected, or your balance was insufficient. The money is available again; `errorCode` has the reason.',
    data: payout({ status: 'DECLINED', errorCode: 'ACCOUNT_NOT_FOUND', brebKey: '@TESTDECLINED' }),
  },
  'paymentlink.completed': {
    when: 'A payer paid the link. This is the only event of the payment: the payins of a link send no `payin.*` events.',
    data: linkEventData(LINK),
  },
  'paymentlink.expired': {
    when: 'The link expired unpaid after its hour, or you closed it.',
    data: linkEventData({ ...LINK, status: 'EXPIRED', completedAt: null, payinId: null }),
  },
};

function example(event: EventName): string {
  const [resource = ''] = event.split('.');
  const body = eventBody({
    id: '019b2c5e-b1c2-7d3e-8001-7a8b9c0d1e2f',
    event,
    resource,
    createdAt: ENDED,
    data: EVENTS[event].data,
  });
  return block('json', JSON.stringify(JSON.parse(body), null, 2));
}

export function eventsPage(): Page {
  return {
    slug: 'reference/events',
    title: 'Events',
    description: 'Every event, when it is sent and its exact contents.',
    body: parts(
      'Exactly one event reports the final outcome of a payin, a payout or a payment link. Its body is the same in a webhook, in `GET /events` and in the live stream; `data` is a snapshot taken in the transaction of the outcome. How to receive them: [webhooks](/docs/guides/webhooks). Their order: [events](/docs/concepts/events).',
      table(
        ['Event', 'When'],
        EVENT_NAMES.map((name) => [`[${code(name)}](#${name.replaceAll('.', '')})`, EVENTS[name].when]),
      ),
      ...EVENT_NAMES.map((name) => parts(`## ${name}`, EVENTS[name].when, example(name))),
      `## ${TEST_EVENT}`,
      `\`POST /webhook-endpoints/{id}/test\` sends \`${TEST_EVENT}\` to that one endpoint. It is not about a resource: acknowledge it and do nothing else. \`GET /events\` and the live stream show it too; endpoints cannot subscribe to it, and it is not replayed.`,
    ),
  };
}
