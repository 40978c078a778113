import { z } from 'zod';
import { RECEIVER_KEY_TYPES } from '../../rails/contract.ts';
import { text, timestamp } from '../fields.ts';
import { merchantOperation } from '../operation.ts';

const lookupSchema = z
  .strictObject({
    details: z.strictObject({
      keyString: z.string().describe('The normalized key.'),
      keyType: z.enum(RECEIVER_KEY_TYPES),
      name: z.string().describe('Masked: the first three letters of each word.'),
      documentType: z.string(),
      documentNumber: z.string().describe('Masked: the last four digits.'),
      bankName: z.string(),
      bankAccountNumber: z.string().describe('Masked: the last four digits.'),
    }),
    lookupId: z.uuid().describe('Send it with the payout as `breb.lookupId`.'),
    expiresAt: timestamp.describe('After this time, payouts can no longer use the lookup.'),
    match: z
      .strictObject({
        name: z.enum(['FULL', 'PARTIAL', 'NONE']).optional(),
        documentNumber: z.boolean().optional(),
      })
      .optional()
      .describe('Only present if `name` or `documentNumber` was sent.'),
  })
  .meta({ id: 'BrebKeyLookup' });

export const lookUpKey = merchantOperation({
  method: 'GET',
  path: '/breb/keys/{keyString}',
  operationId: 'lookUpBrebKey',
  tag: 'Payouts',
  summary: 'Look up a Bre-B key',
  description:
    'Shows who receives money sent to a key, before you send it. Personal data is masked. Send the expected `name` or `documentNumber`, and `match` in the response tells whether it matches the holder.\n\nA payout created before `expiresAt` uses this lookup: if the key has a different holder by then, the payout is declined with `RECEIVER_MISMATCH`. Lookups are limited per organization: keys that do not exist and holders that do not match count most; a lookup followed by a payout does not count.',
  scope: 'breb_keys:read',
  params: z.strictObject({
    keyString: z
      .string()
      .describe('The key. `@` may be sent literally or as `%40`.')
      .meta({ example: '@TESTOK' }),
  }),
  query: z.strictObject({
    name: text(1, 120).optional().describe('Expected name of the holder.'),
    documentNumber: text(1, 40).optional().describe('Expected document number of the holder.'),
  }),
  responses: {
    200: {
      description: 'The key and its masked holder.',
      schema: lookupSchema,
      example: {
        details: {
          keyString: '@TESTOK',
          keyType: 'ALPHANUMERIC',
          name: 'JAN*** SMI*** PRU***',
          documentType: 'CC',
          documentNumber: '****0099',
          bankName: 'BANCO DE PRUEBAS',
          bankAccountNumber: '****6987',
        },
        lookupId: '019b2c5e-9a41-7d02-8001-5c1f0e7b2a34',
        expiresAt: '2026-11-14T15:12:05.678Z',
        match: { name: 'FULL' },
      },
    },
  },
  problems: [
    'breb_key_invalid',
    'breb_key_not_found',
    // The router rejects a path parameter of more than 200 characters.
    'not_found',
    'breb_key_suspended',
    'too_many_lookups',
    'rail_unavailable',
    'organization_suspended',
    'rail_not_enabled',
  ],

  async handle(deps, principal, { params, query, releaseSlot }) {
    releaseSlot();
    const found = await deps.lookups.lookUp(principal, params.keyString, query);
    return { status: 200, body: { ...found, expiresAt: found.expiresAt.toISOString() } };
  },
});
