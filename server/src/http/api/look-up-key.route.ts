import { z } from 'zod';
import { RECEIVER_KEY_TYPES } from '../../rails/contract.ts';
import { text, timestamp } from '../fields.ts';
import { merchantOperation } from '../operation.ts';

const lookupSchema = z
  .strictObject({
    details: z.strictObject({
      keyString: z.string().describe('The key in its normal form.'),
      keyType: z.enum(RECEIVER_KEY_TYPES),
      name: z.string().describe('Masked: the first three letters of each word.'),
      documentType: z.string(),
      documentNumber: z.string().describe('Masked: the last four digits.'),
      bankName: z.string(),
      bankAccountNumber: z.string().describe('Masked: the last four digits.'),
    }),
    lookupId: z.uuid().describe('Send it with the payout as `breb.lookupId`.'),
    expiresAt: timestamp.describe('From then on the lookup no longer serves a payout.'),
    match: z
      .strictObject({
        name: z.enum(['FULL', 'PARTIAL', 'NONE']).optional(),
        documentNumber: z.boolean().optional(),
      })
      .optional()
      .describe('Only when `name` or `documentNumber` was asked about.'),
  })
  .meta({ id: 'BrebKeyLookup' });

export const lookUpKey = merchantOperation({
  method: 'GET',
  path: '/breb/keys/{keyString}',
  operationId: 'lookUpBrebKey',
  tag: 'Payouts',
  summary: 'Look up a Bre-B key',
  description:
    'Who receives what is sent to a key, before it is sent. Personal data is masked; say whom you mean with `name` or `documentNumber` and the answer tells whether it is them.\n\nA payout within `expiresAt` goes by this lookup: should the key have changed hands since, it is declined with `RECEIVER_MISMATCH`. Each organization may look up only so much: a key that does not exist, or a holder who is not whom you named, counts most; a lookup that a payout follows does not count.',
  scope: 'breb_keys:read',
  params: z.strictObject({
    keyString: z.string().describe('The key. Write `@` as it is or as `%40`.').meta({ example: '@TESTOK' }),
  }),
  query: z.strictObject({
    name: text(1, 120).optional().describe('The name you expect the holder to have.'),
    documentNumber: text(1, 40).optional().describe('The document number you expect the holder to have.'),
  }),
  responses: {
    200: {
      description: 'The key and, masked, its holder.',
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
