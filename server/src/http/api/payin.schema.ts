import { z } from 'zod';
import { PAYIN_STATUSES } from '../../payins/payin.states.ts';
import { KEY_TYPES, SETTLEMENT_STATUSES } from '../../payins/payin.ts';
import { ERROR_CODES, RAILS } from '../../rails/contract.ts';
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
});

const pseSource = z.strictObject({
  pseUrl: z.url().nullable().describe('Where the payer goes to pay; null until the bank has answered.'),
  bank: z.string(),
});

export const payinSchema = z
  .strictObject({
    id: z.uuid(),
    amount: z.number().describe('`amountInCents` / 100: pesos with at most two decimals.'),
    amountInCents: z.int(),
    confirmedAmount: z.number().nullable().describe('What arrived, once it has.'),
    confirmedAmountInCents: z.int().nullable(),
    currency: z.literal('COP'),
    status: z.enum(PAYIN_STATUSES).describe('`CONFIRMED`, `DECLINED` and `CANCELED` are final.'),
    settlementStatus: z.enum(SETTLEMENT_STATUSES).nullable(),
    rail: z.enum(RAILS),
    reference: z.string(),
    paymentLinkId: z.uuid().nullable().describe('The payment link it came from.'),
    inlineCustomer: customer.nullable(),
    errorCode: z.enum(ERROR_CODES).nullable().describe('Why it ended without money.'),
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

export const payinWithAnomalies = payinSchema
  .extend({
    anomalies: z.array(
      anomalySchema({
        kinds: ['PAID_LATE', 'PAID_AGAIN', 'UNDERPAID', 'OVERPAID', 'CONTRADICTION', 'UNFOUNDED'],
        kind: '`PAID_LATE`: money came after it had ended without. `PAID_AGAIN`: more money came. `UNDERPAID`: less came than its payment link asks for. `OVERPAID`: what came beyond the amount of its payment link. `CONTRADICTION`: the rail told of an end without money, but it was paid. `UNFOUNDED`: a payment was announced that the rail knows nothing of.',
        amount: 'Money held apart; null when none came.',
        resolutions: ['CREDIT', 'RETURN', 'DISMISS'],
        resolution:
          '`CREDIT`: the money was added to your available balance. `RETURN`: it was sent back to whoever paid it.',
      }),
    ),
  })
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
  },
  callbackUrl: 'https://shop.example.com/thanks',
} as const;
