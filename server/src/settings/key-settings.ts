import { z } from 'zod';
import { parseKeyIds, parseRetiredKeys } from '../receipts/key-settings.ts';
import { secret, url } from './setting-types.ts';

/** Keys of the deployment. */
export const KEY_SETTINGS = {
  CAUDAL_MASTER_KEY: secret(
    "Encrypts every organization's data keys. The passwords of the database roles are derived from it when their URLs are not set. Production requires about 128 bits: use `openssl rand -base64 32`, not a phrase. Required unless `CAUDAL_MASTER_KEY_COMMAND` or `CAUDAL_KMS_URL` is set.",
  ).optional(),
  CAUDAL_MASTER_KEY_COMMAND: z
    .string()
    .optional()
    .describe(
      'A program that prints the master key, instead of `CAUDAL_MASTER_KEY`. Run once at start, without a shell: arguments are separated by spaces.',
    ),
  CAUDAL_KMS_URL: url(
    'A key management service that wraps data keys instead of the master key: `POST /wrap` and `POST /unwrap` ([keys](../operating/keys.md)). With it, `CAUDAL_MASTER_KEY` is only needed for keys that it wrapped before, and for database passwords that derive from it.',
  ).optional(),
  CAUDAL_KMS_KEY_ID: z.string().optional().describe('The key inside the key management service.'),
  CAUDAL_KMS_TOKEN: secret('Bearer token for the key management service.').optional(),
  CAUDAL_MASTER_KEY_PREVIOUS: secret(
    'The second master key during a rotation. First set the new key here on every process; then swap the two; then run `caudal secrets rewrap --by NAME` and remove the old key. While this is set, database passwords are derived from it: set the three role URLs before a rotation.',
  ).optional(),
  CAUDAL_KEY_PEPPER: secret('HMAC key under which API keys and access tokens are stored.'),
  CAUDAL_KEY_PEPPER_PREVIOUS: secret(
    'The second pepper during a rotation. First set the new pepper here on every process; then swap the two. API keys move to the new pepper as they are used.',
  ).optional(),
  CAUDAL_TOKEN_KEY: secret('Signs cursors and encrypts ids in checkout, payment link and receipt URLs.'),
  CAUDAL_TOKEN_KEY_PREVIOUS: secret(
    'The second token key during a rotation. First set the new key here on every process; then swap the two. URLs and cursors of the key set here stay valid: keep the old key as long as its payment links can be paid (one hour) and the receipts of their payers are to be opened (receipt URLs do not expire).',
  ).optional(),
  CAUDAL_RECEIPT_KEY: secret(
    'Derives the Ed25519 key that signs receipts. `caudal receipts keys` prints its public key.',
  ),
  CAUDAL_RECEIPT_KEYS_RETIRED: z
    .string()
    .default('')
    .refine(
      (value) => parseRetiredKeys(value) !== null,
      'entries are PUBLIC_KEY@YYYY-MM-DD, separated by commas',
    )
    .describe(
      'Public keys that signed receipts before the current one, each with the last day on which it signed: `PUBLIC_KEY@YYYY-MM-DD`, separated by commas. Receipts that they signed stay valid.',
    ),
  CAUDAL_RECEIPT_KEYS_REVOKED: z
    .string()
    .default('')
    .refine((value) => parseKeyIds(value) !== null, 'key ids of 8 characters, separated by commas')
    .describe(
      'Ids of compromised receipt keys, separated by commas. All receipts that they signed are rejected.',
    ),
} as const;
