import { z } from 'zod';
import { LINK_STATUSES } from '../../payment-links/payment-link.states.ts';
import { RAILS } from '../../rails/contract.ts';
import { currency, customer, metadata, timestamp } from '../fields.ts';
import { pageInfo } from '../list.ts';

const link = {
  paymentLinkId: z.uuid().describe('Identifier of the payment link.'),
  paymentLinkUrl: z
    .url()
    .describe('The page to send the payer to. The URL is secret: anyone who has it can pay.'),
  status: z.enum(LINK_STATUSES),
  createdAt: timestamp,
  expiresAt: timestamp.nullable().describe('One hour after creation.'),
  rail: z.enum(RAILS).nullable().describe('The only payment method; null if the payer chooses.'),
  inlineCustomer: customer.nullable(),
  metadata,
};

export const linkSchema = z.strictObject(link).meta({ id: 'PaymentLink' });

export const linkDetailsSchema = z
  .strictObject({
    ...link,
    reference: z.string().describe('Your own identifier of the payment link.'),
    amount: z.number().describe('In pesos.'),
    amountInCents: z.int(),
    paidAmount: z
      .number()
      .describe(
        'Received by its payins so far, up to `amount`, in pesos. The link is completed when it equals `amount`.',
      ),
    paidAmountInCents: z.int(),
    currency,
    description: z.string().nullable(),
    callbackUrl: z.string(),
    completedAt: timestamp.nullable().describe('When the link was paid; null if it was not.'),
    payinId: z.uuid().nullable().describe('The payin that completed the link.'),
    verificationCode: z
      .string()
      .describe(
        'Four digits that the page shows to a payer who doubts the charge. Read them to a payer who calls you.',
      ),
  })
  .meta({ id: 'PaymentLinkWithDetails' });

export const linkListSchema = z
  .strictObject({ data: z.array(linkDetailsSchema), pageInfo })
  .meta({ id: 'PaymentLinkList' });

export const LINK_EXAMPLE = {
  paymentLinkId: '019b2c5e-c1d2-7e3f-8001-8b9c0d1e2f3a',
  paymentLinkUrl: 'https://pay.example.com/l/0143hXcS0bPq',
  status: 'PENDING',
  createdAt: '2026-11-14T15:04:05.678Z',
  expiresAt: '2026-11-14T16:04:05.678Z',
  rail: null,
  inlineCustomer: null,
  metadata: {},
} as const;

export const LINK_DETAILS_EXAMPLE = {
  ...LINK_EXAMPLE,
  reference: 'order-1001',
  amount: 49_800,
  amountInCents: 4_980_000,
  paidAmount: 0,
  paidAmountInCents: 0,
  currency: 'COP',
  description: 'Order 1001, two pairs of shoes',
  callbackUrl: 'https://shop.example.com/thanks',
  completedAt: null,
  payinId: null,
  verificationCode: '4821',
} as const;
