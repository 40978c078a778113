import { z } from 'zod';
import type { PayoutRequest } from '../../flows/payouts/payout-creator.ts';
import { KEY_TYPES } from '../../payins/payin.ts';
import { payoutView } from '../../payouts/payout.view.ts';
import { readReceiverKey } from '../../payouts/receiver-key.ts';
import { amountInCents, currency, customer, fieldIssue, reference } from '../fields.ts';
import { merchantOperation } from '../operation.ts';
import { PAYOUT_EXAMPLE, payoutSchema } from './payout.schema.ts';

const breb = z.strictObject({
  keyString: z
    .string()
    .max(200)
    .refine((text) => readReceiverKey(text) !== null, fieldIssue('invalid_breb_key'))
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
  })
  .meta({ id: 'CreatePayout' });

export const createPayout = merchantOperation({
  method: 'POST',
  path: '/payouts',
  operationId: 'createPayout',
  tag: 'Payouts',
  summary: 'Create a payout',
  description:
    'Sends an amount to a Bre-B key. The response is never the final outcome: wait for `payout.confirmed`, `payout.declined` or `payout.canceled`.\n\nLook up the key first to see who receives the money. The amount is held from the available balance immediately; if the balance is too low, the payout is `DECLINED` with `INSUFFICIENT_FUNDS`. A payout is sent only once: if the response of the network is lost, it stays `PROCESSING` until the network reports the outcome.',
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
    'reference_taken',
    'idempotency_in_flight',
    'idempotency_mismatch',
    'outcome_unknown',
  ],

  async handle(deps, principal, call) {
    const idempotency =
      call.idempotencyKey === null ? null : { key: call.idempotencyKey, body: call.rawBody };
    const { payout, replayed } = await deps.payouts.create(principal, toRequest(call.body), idempotency);
    return {
      status: 201,
      body: payoutView(payout),
      ...(replayed ? { headers: { 'idempotent-replayed': 'true' } } : {}),
    };
  },
});

function toRequest({ amountInCents, reference, inlineCustomer, breb }: z.output<typeof body>): PayoutRequest {
  const read = readReceiverKey(breb.keyString);
  if (!read) throw new Error('payout without a valid key passed the schema');
  return {
    amountInCents,
    reference,
    inlineCustomer,
    brebKey: read.key,
    lookupId: breb.lookupId?.toLowerCase() ?? null,
  };
}
