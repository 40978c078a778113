import { z } from 'zod';
import type { ErrorCode } from '../../kit/error-catalogue.ts';
import type { Principal } from '../../organizations/organization.ts';
import { RECEIVER_KEY_TYPES } from '../../rails/contract.ts';
import type { ApiDeps } from '../api-deps.ts';
import { text, timestamp } from '../fields.ts';
import { merchantOperation, type Reply } from '../operation.ts';

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

/** The holder that the caller expects. */
export const expectedHolder = {
  name: text(1, 120).optional().describe('Expected name of the holder.'),
  documentNumber: text(1, 40).optional().describe('Expected document number of the holder.'),
};

export const KEY_LOOKUP_RESPONSES = {
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
};

export const KEY_LOOKUP_PROBLEMS: readonly ErrorCode[] = [
  'breb_key_invalid',
  'breb_key_not_found',
  'breb_key_suspended',
  'too_many_lookups',
  'rail_unavailable',
  'organization_suspended',
  'rail_not_enabled',
];

export async function lookUp(
  deps: ApiDeps,
  principal: Principal,
  keyString: string,
  expected: { readonly name?: string | undefined; readonly documentNumber?: string | undefined },
): Promise<Reply> {
  const found = await deps.lookups.lookUp(principal, keyString, expected);
  return { status: 200, body: { ...found, expiresAt: found.expiresAt.toISOString() } };
}

export const lookUpKey = merchantOperation({
  method: 'GET',
  path: '/breb/keys/{keyString}',
  operationId: 'lookUpBrebKey',
  tag: 'Payouts',
  summary: 'Look up a Bre-B key in the path',
  description:
    'The same as `POST /breb/keys/lookup`, with the key in the path and the expected holder in the query. URLs reach the access logs of proxies: prefer the POST form, which the SDK and the command line use.',
  scope: 'breb_keys:read',
  params: z.strictObject({
    keyString: z
      .string()
      .describe('The key. `@` may be sent literally or as `%40`.')
      .meta({ example: '@TESTOK' }),
  }),
  query: z.strictObject(expectedHolder),
  responses: KEY_LOOKUP_RESPONSES,
  // The router rejects a path parameter of more than 200 characters.
  problems: [...KEY_LOOKUP_PROBLEMS, 'not_found'],

  handle: (deps, principal, { params, query, releaseSlot }) => {
    releaseSlot();
    return lookUp(deps, principal, params.keyString, query);
  },
});
