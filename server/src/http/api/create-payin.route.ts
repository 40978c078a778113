import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import type { PayinRequest } from '../../flows/payins/payin-creator.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Principal } from '../../organizations/organization.ts';
import { KEY_TYPES, PERSON_TYPES } from '../../payins/payin.columns.ts';
import type { PayinMethod } from '../../payins/payin.ts';
import { payinView } from '../../payins/payin.view.ts';
import { RAILS, type Rail } from '../../rails/contract.ts';
import { BANK_BY_CODE } from '../../rails/pse/banks.ts';
import {
  amountInCents,
  commonFields,
  currency,
  customer,
  fieldIssue,
  metadata,
  reference,
} from '../fields.ts';
import { CREATION_PROBLEMS, createdReply, merchantOperation } from '../operation.ts';
import { CALLBACK_URL } from '../url-field.ts';
import { CUSTOMER_EXAMPLE, PAYIN_EXAMPLE, payinSchema } from './payin.schema.ts';

const breb = z.strictObject({
  keyType: z.enum(KEY_TYPES).describe('`SINGLE_USE` returns the key; `QR_CODE` also returns a QR image.'),
  keyString: z.string().max(100).optional().describe('Accepted but ignored for payins.'),
});

const pse = z.strictObject({
  bank: z
    .string()
    .refine((code) => BANK_BY_CODE.has(code), fieldIssue('unsupported_bank'))
    .describe('Bank code from `GET /pse/banks`.')
    .meta({ example: 'CO_BANCOLOMBIA' }),
  personType: z.enum(PERSON_TYPES),
});

/** The `pse` or `breb` object is required for its own rail and rejected for the other. */
function railRule(value: unknown, context: z.RefinementCtx): void {
  const { rail, pse, breb } = value as { rail?: unknown; pse?: unknown; breb?: unknown };
  if (rail !== 'PSE' && rail !== 'BRE_B') return;
  const [own, other] = rail === 'PSE' ? [pse, breb] : [breb, pse];
  const [ownName, otherName] = rail === 'PSE' ? ['pse', 'breb'] : ['breb', 'pse'];
  if (own === undefined) context.addIssue({ code: 'custom', path: [ownName], ...fieldIssue('required') });
  if (other !== undefined) {
    context.addIssue({ code: 'custom', path: [otherName], ...fieldIssue('not_for_this_rail') });
  }
}

const fields = z.strictObject({
  amountInCents,
  currency,
  rail: z.enum(RAILS),
  reference,
  inlineCustomer: customer
    .optional()
    .describe('The payer. If omitted on PSE, the checkout page asks the payer for these details.'),
  pse: pse.optional().describe('Required when `rail` is `PSE`.'),
  breb: breb.optional().describe('Required when `rail` is `BRE_B`.'),
  callbackUrl: z
    .string()
    .max(2048)
    .optional()
    .describe('URL the payer returns to. It does not report the result: use events.')
    .meta({ format: 'uri' }),
  metadata: metadata.optional(),
});

const body = fields
  .superRefine(railRule, {
    // Runs even if other fields are invalid, so that one response lists all errors.
    when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
  })
  .meta({ id: 'CreatePayin' })
  .transform(toRequest);

/** An operator ends a pause manually, so faster retries are useless. */
const PAUSED_RETRY_SECONDS = 60;

const EXAMPLE = {
  amountInCents: 4_980_000,
  currency: 'COP',
  reference: 'order-1001',
  inlineCustomer: CUSTOMER_EXAMPLE,
};

export const createPayin = merchantOperation({
  method: 'POST',
  path: '/payins',
  operationId: 'createPayin',
  tag: 'Payins',
  summary: 'Create a payin',
  description:
    'Collects an amount from a payer. The response is never the final outcome: wait for `payin.confirmed`, `payin.declined` or `payin.canceled`.\n\nOn `BRE_B`, the response contains the key to pay to. On `PSE`, `sourceData.pseUrl` contains the bank page if the bank responds within three seconds; otherwise it is null, and you can get the payin again shortly after.',
  scope: 'payins:write',
  idempotent: true,
  body,
  urlFields: { callbackUrl: CALLBACK_URL },
  bodyExamples: {
    brebSingleUse: {
      summary: 'Bre-B, single-use key',
      value: { ...EXAMPLE, rail: 'BRE_B', breb: { keyType: 'SINGLE_USE' } },
    },
    brebQr: {
      summary: 'Bre-B, QR code',
      value: { ...EXAMPLE, reference: 'order-1002', rail: 'BRE_B', breb: { keyType: 'QR_CODE' } },
    },
    pse: {
      summary: 'PSE',
      value: {
        ...EXAMPLE,
        reference: 'order-1003',
        rail: 'PSE',
        pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' },
        callbackUrl: 'https://shop.example.com/thanks',
      },
    },
  },
  responses: { 201: { description: 'The payin.', schema: payinSchema, example: PAYIN_EXAMPLE } },
  problems: [...CREATION_PROBLEMS, 'rail_paused'],

  async handle(deps, principal, { body, idempotency, releaseSlot }) {
    rejectIfPaused(deps, principal, body.method.rail);
    const created = await deps.payins.create(principal, body, idempotency, releaseSlot);
    return createdReply(created, payinView(deps, principal.organization, created.payin));
  },
});

/** Also rejects retries with an idempotency key: no lookup is made. They succeed once the rail is resumed. */
function rejectIfPaused(
  { railPauses }: Pick<Deps, 'railPauses'>,
  { organization }: Principal,
  rail: Rail,
): void {
  if (organization.rails.has(rail) && railPauses.paused(rail, organization.id))
    throw new ApiError('rail_paused', { retryAfterSeconds: PAUSED_RETRY_SECONDS });
}

function toRequest(input: z.output<typeof fields>): PayinRequest {
  return { ...commonFields(input), callbackUrl: input.callbackUrl ?? null, method: toMethod(input) };
}

function toMethod({ pse, breb }: z.output<typeof fields>): PayinMethod {
  if (pse) return { rail: 'PSE', ...pse };
  if (breb) return { rail: 'BRE_B', keyType: breb.keyType };
  throw new Error('payin without pse or breb passed the schema');
}
