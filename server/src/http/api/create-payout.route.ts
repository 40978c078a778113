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
    .describe('The key to pay to, the same that was looked up. It is shown in its normal form.')
    .meta({ example: '3001234567' }),
  lookupId: z
    .uuid()
    .optional()
    .describe(
      'Of the lookup this payout must go by. Without it the newest one of the same key that has not expired is used, if there is any.',
    ),
  keyType: z.enum(KEY_TYPES).optional().describe('May be sent; not used by payouts.'),
});

const body = z
  .strictObject({
    amountInCents,
    currency,
    rail: z.literal('BRE_B').describe('The only rail that sends money.'),
    reference,
    inlineCustomer: customer.describe('Who is paid.'),
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
    'Sends an amount to a Bre-B key. The answer is never the final outcome: wait for `payout.confirmed`, `payout.declined` or `payout.canceled`.\n\nLook the key up first, to see who receives. The amount is set aside from the available balance at once; a balance that does not cover it is an outcome too (`DECLINED`, `INSUFFICIENT_FUNDS`). A payout is sent once: where the answer of the network is lost it stays `PROCESSING` until the network has said what became of it.',
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
    const { payout, replayed } = await deps.payouts.create(principal, requestOf(call.body), idempotency);
    return {
      status: 201,
      body: payoutView(payout),
      ...(replayed ? { headers: { 'idempotent-replayed': 'true' } } : {}),
    };
  },
});

function requestOf({ amountInCents, reference, inlineCustomer, breb }: z.output<typeof body>): PayoutRequest {
  const read = readReceiverKey(breb.keyString);
  if (!read) throw new Error('the schema lets no payout through without a key');
  return {
    amountInCents,
    reference,
    inlineCustomer,
    key: read.key,
    lookupId: breb.lookupId?.toLowerCase() ?? null,
  };
}
