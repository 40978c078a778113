import { z } from 'zod';
import type { CreatePayout } from '../../flows/payouts/create-payouts.ts';
import type { RequestOf } from '../../flows/shared/creator.ts';
import { KEY_TYPES } from '../../payins/payin.columns.ts';
import { payoutView } from '../../payouts/payout.view.ts';
import {
  amountInCents,
  commonFields,
  currency,
  customer,
  metadata,
  receiverKey,
  reference,
} from '../fields.ts';
import { createdReply, merchantOperation } from '../operation.ts';
import { PAYOUT_EXAMPLE, payoutSchema } from './payout.schema.ts';

const breb = z.strictObject({
  keyString: receiverKey
    .describe('The Bre-B key to pay to, the same one that you looked up. Responses show it normalized.')
    .meta({ example: '3001234567' }),
  lookupId: z
    .uuid()
    .optional()
    .describe(
      'The lookup that this payout must match. If omitted, the newest unexpired lookup of the same key is used, if any.',
    ),
  keyType: z.enum(KEY_TYPES).optional().describe('Accepted but ignored for payouts.'),
});

const body = z
  .strictObject({
    amountInCents,
    currency,
    rail: z.literal('BRE_B').describe('The only rail that supports payouts.'),
    reference,
    inlineCustomer: customer.describe('The receiver.'),
    breb,
    metadata: metadata.optional(),
  })
  .meta({ id: 'CreatePayout' })
  .transform(
    ({ breb, ...input }): RequestOf<CreatePayout> => ({
      ...commonFields(input),
      brebKey: breb.keyString,
      lookupId: breb.lookupId?.toLowerCase() ?? null,
    }),
  );

export const createPayout = merchantOperation({
  method: 'POST',
  path: '/payouts',
  operationId: 'createPayout',
  tag: 'Payouts',
  summary: 'Create a payout',
  description:
    'Sends an amount to a Bre-B key. The response is never the final outcome: wait for `payout.confirmed`, `payout.declined` or `payout.canceled`.\n\nLook up the key first to see who receives the money. The amount is held from the available balance immediately; if the balance is too low, the payout is `DECLINED` with `INSUFFICIENT_FUNDS`, and above a payout limit that the operator set for your organization with `ORGANIZATION_LIMIT_EXCEEDED`. A payout is sent only once: if the response of the network is lost, it stays `PROCESSING` until the network reports the outcome.\n\nA payout that is declined because of its key counts like a lookup without a match. After too many of them, payouts to keys that you did not look up return 429 `too_many_lookups`.',
  scope: 'payouts:write',
  idempotent: true,
  body,
  bodyExamples: {
    payout: {
      summary: 'To a mobile number',
      value: {
        amountInCents: PAYOUT_EXAMPLE.amountInCents,
        currency: 'COP',
        rail: 'BRE_B',
        reference: PAYOUT_EXAMPLE.reference,
        inlineCustomer: PAYOUT_EXAMPLE.inlineCustomer,
        breb: { keyString: '3001234567' },
      },
    },
  },
  responses: { 201: { description: 'The payout.', schema: payoutSchema, example: PAYOUT_EXAMPLE } },
  problems: [
    'organization_suspended',
    'rail_not_enabled',
    'lookup_invalid',
    'too_many_lookups',
    'reference_taken',
    'idempotency_in_flight',
    'idempotency_mismatch',
    'outcome_unknown',
  ],

  async handle(deps, principal, { body, idempotency }) {
    const created = await deps.payouts.create(principal, body, idempotency);
    return createdReply(created, payoutView(created.resource));
  },
});
