import { z } from 'zod';
import { KEY_TYPES, PAYIN_ERROR_CODES, SETTLEMENT_STATUSES } from '../../payins/payin.columns.ts';
import { PAYIN_STATUSES } from '../../payins/payin.states.ts';
import { RAILS } from '../../rails/contract.ts';
import { currency, customer, metadata, timestamp } from '../fields.ts';
import { pageInfo } from '../list.ts';
import { anomalySchema } from './anomaly.schema.ts';

export const brebSource = z.strictObject({
  keyType: z.enum(KEY_TYPES).describe('How the payer pays: by entering the key, or by scanning its QR code.'),
  keyString: z.string().describe('The Bre-B key the payer pays to.'),
  qrString: z
    .string()
    .optional()
    .describe('`data:image/png;base64,…`, ready to render; only with `QR_CODE`.'),
  checkoutUrl: z.url().describe('Page where the payer can pay this payin.'),
  endToEndId: z
    .string()
    .nullable()
    .describe("The network's id of the payment, also known to the payer's bank; null until paid."),
});

export const pseSource = z.strictObject({
  pseUrl: z.url().nullable().describe('Bank page where the payer pays; null until the bank responds.'),
  bank: z.string().describe('Code of the bank that the payer pays from.'),
  cus: z
    .string()
    .nullable()
    .describe(
      'The PSE transaction code (CUS), used by payers and banks in claims; null until the bank responds.',
    ),
});

export const payinSchema = z
  .strictObject({
    id: z.uuid().describe('Identifier of the payin.'),
    amount: z.number().describe('`amountInCents` / 100: pesos with at most two decimals.'),
    amountInCents: z.int().describe('The requested amount in cents.'),
    confirmedAmount: z
      .number()
      .nullable()
      .describe(
        'The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received.',
      ),
    confirmedAmountInCents: z.int().nullable().describe('`confirmedAmount` in cents.'),
    currency,
    status: z.enum(PAYIN_STATUSES).describe('`CONFIRMED`, `DECLINED` and `CANCELED` are final.'),
    settlementStatus: z
      .enum(SETTLEMENT_STATUSES)
      .nullable()
      .describe(
        '`REVERSED`: the rail notified the payment but does not list it, so the ledger entry was reversed and the payin never settles.',
      ),
    rail: z.enum(RAILS).describe('The rail that the payer pays on.'),
    reference: z.string().describe('Your own identifier of the payin.'),
    paymentLinkId: z.uuid().nullable().describe('The payment link it came from.'),
    inlineCustomer: customer.nullable(),
    errorCode: z
      .enum(PAYIN_ERROR_CODES)
      .nullable()
      .describe(
        'Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately.',
      ),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt: timestamp.describe('After this time the payin can no longer be paid.'),
    resultAt: timestamp.nullable().describe('Time of the final status; null until then.'),
    chargebackAt: timestamp.nullable(),
    organizationId: z.uuid().describe('Your organization.'),
    sourceData: z.union([brebSource, pseSource]).describe('Rail-specific data.'),
    callbackUrl: z.string().nullable(),
    metadata,
  })
  .meta({ id: 'Payin' });

export const payinAnomalySchema = anomalySchema({
  kinds: [
    'PAID_LATE',
    'PAID_AGAIN',
    'UNDERPAID',
    'OVERPAID',
    'CONTRADICTION',
    'UNCONFIRMED',
    'PAYMENT_NOT_LISTED',
  ],
  kind: '`PAID_LATE`: money arrived after the payin was declined or canceled. `PAID_AGAIN`: a second payment arrived. `UNDERPAID`: less than the amount arrived. `OVERPAID`: the excess over the amount. `CONTRADICTION`: the rail reported a failure for a paid payin. `UNCONFIRMED`: a payment was notified that the rail cannot confirm. `PAYMENT_NOT_LISTED`: the rail notified the payment that confirmed the payin, but its status does not list it; settlement is held until an operator decides.',
  amount: 'Money held separately; null if no money arrived.',
  statuses: ['OPEN', 'ACCEPTED', 'RESOLVED'],
  status:
    '`OPEN`: not decided yet; the money can be accepted. `ACCEPTED`: you accepted the money, and it will be credited shortly. `RESOLVED`: see `resolution`.',
  resolutions: ['CREDIT', 'RETURN', 'DISMISS', 'RELEASE', 'REVERSE', 'LISTED'],
  resolution:
    '`CREDIT`: the money was credited to your available balance. `RETURN`: the money is sent back to the payer; if that fails, the anomaly is `OPEN` again. `DISMISS`: closed without moving money. `RELEASE`: the payin settles. `REVERSE`: the ledger entry of the payin was reversed. `LISTED`: the rail now lists the payment, and the payin settles.',
}).meta({ id: 'PayinAnomaly' });

export const payinWithAnomalies = payinSchema
  .extend({ anomalies: z.array(payinAnomalySchema) })
  .meta({ id: 'PayinWithAnomalies' });

export const payinListSchema = z
  .strictObject({
    data: z.array(
      payinSchema
        .extend({ inlineCustomer: z.string().nullable().describe('The customer object as a JSON string.') })
        .meta({ id: 'PayinListItem' }),
    ),
    pageInfo,
  })
  .meta({ id: 'PayinList' });

export const CUSTOMER_EXAMPLE = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '+573001234567',
  email: 'ana@example.com',
} as const;

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
  inlineCustomer: CUSTOMER_EXAMPLE,
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
    checkoutUrl: 'https://pay.example.com/p/0143hXcS0bPq',
    endToEndId: null,
  },
  callbackUrl: 'https://shop.example.com/thanks',
  metadata: { orderId: '1001' },
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
