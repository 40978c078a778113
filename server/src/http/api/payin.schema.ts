import { z } from 'zod';
import { PAYIN_STATUSES } from '../../payins/payin.states.ts';
import { KEY_TYPES, PAYIN_ERROR_CODES, SETTLEMENT_STATUSES } from '../../payins/payin.ts';
import { RAILS } from '../../rails/contract.ts';
import { customer, timestamp } from '../fields.ts';
import { pageInfo } from '../list.ts';
import { anomalySchema } from './anomaly.schema.ts';

const brebSource = z.strictObject({
  keyType: z.enum(KEY_TYPES),
  keyString: z.string().describe('The Bre-B key the payer pays to.'),
  qrString: z
    .string()
    .optional()
    .describe('`data:image/png;base64,…`, ready to render; only with `QR_CODE`.'),
  checkoutUrl: z.url().describe('Page where the payer can pay this payin.'),
  endToEndId: z
    .string()
    .nullable()
    .describe("The network's id of the payment, which the payer's bank quotes; null until it is paid."),
});

const pseSource = z.strictObject({
  pseUrl: z.url().nullable().describe('Where the payer goes to pay; null until the bank has answered.'),
  bank: z.string(),
  cus: z
    .string()
    .nullable()
    .describe('The CUS that payer, bank and PSE quote in a claim; null until the bank has answered.'),
});

export const payinSchema = z
  .strictObject({
    id: z.uuid(),
    amount: z.number().describe('`amountInCents` / 100: pesos with at most two decimals.'),
    amountInCents: z.int(),
    confirmedAmount: z
      .number()
      .nullable()
      .describe(
        'What confirmed it: `amount`, unless your organization takes any amount. With `UNDERPAID`: what arrived.',
      ),
    confirmedAmountInCents: z.int().nullable(),
    currency: z.literal('COP'),
    status: z.enum(PAYIN_STATUSES).describe('`CONFIRMED`, `DECLINED` and `CANCELED` are final.'),
    settlementStatus: z
      .enum(SETTLEMENT_STATUSES)
      .nullable()
      .describe(
        '`REVERSED`: the rail does not list the payment that it notified, and the booking was taken back; it never settles.',
      ),
    rail: z.enum(RAILS),
    reference: z.string(),
    paymentLinkId: z.uuid().nullable().describe('The payment link it came from.'),
    inlineCustomer: customer.nullable(),
    errorCode: z
      .enum(PAYIN_ERROR_CODES)
      .nullable()
      .describe('Why it was not confirmed. `UNDERPAID`: less than `amount` arrived, and is held apart.'),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt: timestamp.describe('From then on it can no longer be paid.'),
    resultAt: timestamp.nullable(),
    chargebackAt: timestamp.nullable(),
    organizationId: z.uuid(),
    sourceData: z.union([brebSource, pseSource]).describe('Data of the rail.'),
    callbackUrl: z.string().nullable(),
  })
  .meta({ id: 'Payin' });

export const payinAnomalySchema = anomalySchema({
  kinds: [
    'PAID_LATE',
    'PAID_AGAIN',
    'UNDERPAID',
    'OVERPAID',
    'CONTRADICTION',
    'UNFOUNDED',
    'PAYMENT_NOT_LISTED',
  ],
  kind: '`PAID_LATE`: money came after it had ended without. `PAID_AGAIN`: more money came. `UNDERPAID`: less arrived than the amount. `OVERPAID`: what arrived beyond the amount. `CONTRADICTION`: the rail told of an end without money, but it was paid. `UNFOUNDED`: a payment was announced that the rail knows nothing of. `PAYMENT_NOT_LISTED`: the rail notified the payment that confirmed the payin, but its own status does not list it; settlement is held until an operator decides.',
  amount: 'Money held apart; null when none came.',
  statuses: ['OPEN', 'ACCEPTED', 'RESOLVED'],
  status:
    '`OPEN`: nothing is decided; money can be accepted. `ACCEPTED`: you took the money, and it is about to be credited. `RESOLVED`: see `resolution`.',
  resolutions: ['CREDIT', 'RETURN', 'DISMISS', 'RELEASE', 'REVERSE', 'LISTED'],
  resolution:
    '`CREDIT`: the money was added to your available balance. `RETURN`: it is sent back to the payer; should that fail, the anomaly is `OPEN` again. `RELEASE`: the payin settles. `REVERSE`: its booking was taken back. `LISTED`: the rail lists the payment after all, and the payin settles.',
}).meta({ id: 'PayinAnomaly' });

export const payinWithAnomalies = payinSchema
  .extend({ anomalies: z.array(payinAnomalySchema) })
  .meta({ id: 'PayinWithAnomalies' });

export const payinListSchema = z
  .strictObject({
    data: z.array(
      payinSchema
        .extend({ inlineCustomer: z.string().nullable().describe('The JSON text of the customer object.') })
        .meta({ id: 'PayinListItem' }),
    ),
    pageInfo,
  })
  .meta({ id: 'PayinList' });

export const PAYIN_EXAMPLE = {
  id: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10',
  amount: 49800,
  amountInCents: 4_980_000,
  confirmedAmount: null,
  confirmedAmountInCents: null,
  currency: 'COP',
  status: 'PROCESSING',
  settlementStatus: null,
  rail: 'BRE_B',
  reference: 'order-1001',
  paymentLinkId: null,
  inlineCustomer: {
    name: 'Ana María Rojas',
    idType: 'CO_CC',
    idNumber: '1020304050',
    phone: '+573001234567',
    email: 'ana@example.com',
  },
  errorCode: null,
  createdAt: '2026-11-14T15:04:05.678Z',
  updatedAt: '2026-11-14T15:04:05.678Z',
  expiresAt: '2026-11-14T16:04:05.678Z',
  resultAt: null,
  chargebackAt: null,
  organizationId: '019b2c5e-0000-7000-8001-000000000001',
  sourceData: {
    keyType: 'SINGLE_USE',
    keyString: '@CDL0102H3K9M2X7QWER',
    checkoutUrl: 'https://pay.example.com/p/01…',
    endToEndId: null,
  },
  callbackUrl: 'https://shop.example.com/thanks',
} as const;

export const PAYIN_ANOMALY_EXAMPLE = {
  id: '019b2c5e-9a10-7b22-8001-5c1e7d0a4f31',
  kind: 'UNDERPAID',
  amount: 20000,
  amountInCents: 2_000_000,
  status: 'OPEN',
  noticedAt: '2026-11-14T15:05:10.120Z',
  resolvedAt: null,
  resolution: null,
} as const;
