import { z } from 'zod';
import type { CreateLink } from '../../flows/payment-links/create-links.ts';
import type { RequestOf } from '../../flows/shared/creator.ts';
import { linkView } from '../../payment-links/payment-link.view.ts';
import { RAILS } from '../../rails/contract.ts';
import { BANK_BY_CODE } from '../../rails/pse/banks.ts';
import {
  amountInCents,
  commonFields,
  currency,
  customer,
  fieldIssue,
  freeText,
  metadata,
  reference,
} from '../fields.ts';
import { CREATION_PROBLEMS, createdReply, merchantOperation } from '../operation.ts';
import { CALLBACK_URL } from '../url-field.ts';
import { CUSTOMER_EXAMPLE } from './payin.schema.ts';
import { LINK_EXAMPLE, linkSchema } from './payment-link.schema.ts';

const pse = z.strictObject({
  bank: z
    .string()
    .refine((code) => BANK_BY_CODE.has(code), fieldIssue('unsupported_bank'))
    .describe('Bank code from `GET /pse/banks`, preselected on the page.')
    .meta({ example: 'CO_BANCOLOMBIA' }),
  personType: z
    .string()
    .max(20)
    .optional()
    .describe('Accepted but ignored: the payer selects it on the page.'),
});

const body = z
  .strictObject({
    amountType: z.literal('FIXED').describe('The payer is charged exactly `amountInCents`.'),
    amountInCents,
    currency: currency.optional(),
    reference,
    callbackUrl: z
      .string()
      .max(2048)
      .describe(
        'URL the payer returns to after the checkout, paid or not. It does not report the result: use events.',
      )
      .meta({ format: 'uri', example: 'https://shop.example.com/thanks' }),
    description: freeText(1, 200).optional().describe('Shown to the payer.'),
    rail: z.enum(RAILS).optional().describe('The only payment method. If omitted, the payer chooses.'),
    inlineCustomer: customer
      .optional()
      .describe('The payer. If omitted, the page asks for these details when the method needs them.'),
    pse: pse.optional().describe('Only allowed if `rail` is `PSE`.'),
    metadata: metadata.optional(),
  })
  .superRefine(
    (value: unknown, context) => {
      const { rail, pse } = value as { rail?: unknown; pse?: unknown };
      if (pse !== undefined && rail !== 'PSE')
        context.addIssue({ code: 'custom', path: ['pse'], ...fieldIssue('not_for_this_rail') });
    },
    // Runs even if other fields are invalid, so that one response lists all errors.
    { when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value) },
  )
  .meta({ id: 'CreatePaymentLink' })
  .transform(
    (input): RequestOf<CreateLink> => ({
      ...commonFields(input),
      description: input.description ?? null,
      callbackUrl: input.callbackUrl,
      rail: input.rail ?? null,
      pseBank: input.pse?.bank ?? null,
    }),
  );

const EXAMPLE = {
  amountType: 'FIXED',
  amountInCents: 4_980_000,
  reference: 'order-1001',
  callbackUrl: 'https://shop.example.com/thanks',
};

export const createPaymentLink = merchantOperation({
  method: 'POST',
  path: '/payment-links',
  operationId: 'createPaymentLink',
  tag: 'Payment links',
  summary: 'Create a payment link',
  description:
    'Creates a hosted page where a payer pays one amount with the method of their choice. Send the payer to `paymentLinkUrl`. The link expires after one hour; create a new one after that. `paymentlink.completed` is the only event that reports the payment: the payins of a link emit no events.',
  scope: 'payment_links:write',
  idempotent: true,
  preferredAuth: 'bearer',
  body,
  urlFields: { callbackUrl: CALLBACK_URL },
  bodyExamples: {
    open: { summary: 'The payer chooses', value: EXAMPLE },
    restricted: { summary: 'One method', value: { ...EXAMPLE, reference: 'order-1002', rail: 'BRE_B' } },
    bank: {
      summary: 'PSE with a bank preselected',
      value: { ...EXAMPLE, reference: 'order-1003', rail: 'PSE', pse: { bank: 'CO_BANCOLOMBIA' } },
    },
    customer: {
      summary: 'Pre-filled customer',
      value: { ...EXAMPLE, reference: 'order-1004', inlineCustomer: CUSTOMER_EXAMPLE },
    },
    both: {
      summary: 'One method and pre-filled customer',
      value: { ...EXAMPLE, reference: 'order-1005', rail: 'PSE', inlineCustomer: CUSTOMER_EXAMPLE },
    },
  },
  responses: { 201: { description: 'The payment link.', schema: linkSchema, example: LINK_EXAMPLE } },
  problems: CREATION_PROBLEMS,

  async handle(deps, principal, { body, idempotency }) {
    const created = await deps.links.create(principal, body, idempotency);
    return createdReply(created, linkView(deps, principal.organization.number, created.resource));
  },
});
