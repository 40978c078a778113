import { z } from 'zod';
import { integer, network, secret, url, yesOrNo } from './setting-types.ts';

/** Settings of the rails. */
export const RAIL_SETTINGS = {
  BREB_URL: url('Base URL of the Bre-B node.'),
  BREB_CLIENT_ID: z.string().min(1).describe('OAuth2 client id at the Bre-B node.'),
  BREB_CLIENT_SECRET: z.string().min(1).describe('OAuth2 client secret at the Bre-B node.'),
  BREB_NOTICE_SECRET: secret('Key with which the Bre-B node signs notifications to /rail-notices/breb.'),
  BREB_NOTICE_SECRET_PREVIOUS: secret('The second notification key during a rotation.').optional(),
  BREB_KEY_PREFIX: z
    .string()
    .regex(/^[A-Z0-9]{2,4}$/, 'two to four capital letters or digits')
    .default('CDL')
    .describe('Prefix of the single-use Bre-B keys that the service generates.'),
  BREB_RECEIVER_NAME: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Name of the holder of the collecting account at the Bre-B node. Bank apps show it as the recipient of every key, and checkout pages tell payers to compare it. Default: CAUDAL_OPERATOR_NAME.',
    ),
  BREB_MAX_AMOUNT_PESOS: integer(
    1,
    999_999_999,
    'Maximum of one Bre-B payment in pesos: 1,000 UVB, a value that changes every January. Links above it do not offer Bre-B. The default is the value of 2025.',
  ).default(11_552_000),
  BREB_PAYER_DOCUMENT: z
    .string()
    .regex(/^\d{6,12}$/, '6 to 12 digits')
    .default('900000001')
    .describe('NIT of the payer of all payout orders at the Bre-B node, regardless of the organization.'),
  BREB_NETWORK: network('Sponsoring network, written in QR codes as `CO.COM.<network>…`.'),
  BREB_NETWORK_ID: network('Network id in tag 49 of QR codes.'),
  BREB_REJECTS_DUPLICATE_ORDERS: yesOrNo(
    'no',
    'Whether the Bre-B node rejects a second order with the same end-to-end id. Set `yes` only when its API documentation or your contract says so: an order that the node does not know is then resent automatically. With `no` the order is only queried and waits in `caudal payouts unknown` for an operator.',
  ),
  BREB_MAX_PROCESSING_MS: integer(
    5000,
    3_600_000,
    "Maximum processing time of a request at the Bre-B node in milliseconds, including queues of its gateway, from the node's service level or API documentation. Until it has passed, an unknown order may still be executed: it is neither resent nor declined.",
  ).default(120_000),
  PSE_URL: url('Base URL of the PSE service.'),
  PSE_ENTITY: z.string().min(1).describe("The operator's entity code at PSE."),
  PSE_SECRET: z.string().min(1).describe('Secret of the PSE entity.'),
  PSE_MAX_PROCESSING_MS: integer(
    10_000,
    3_600_000,
    'Maximum processing time of a request at PSE in milliseconds, from its service documentation. Until it has passed, a transaction that PSE does not know may still be created.',
  ).default(60_000),
  PSE_MIN_AMOUNT_PESOS: integer(
    1,
    999_999_999,
    'Minimum of one PSE payment in pesos. Links below it do not offer PSE.',
  ).default(1500),
  PSE_MAX_AMOUNT_PESOS: integer(
    1,
    999_999_999,
    'Maximum of one PSE payment in pesos, from your contract with PSE. Links above it do not offer PSE.',
  ).default(999_999_999),
  PSE_NOTICE_SECRET: secret('Key with which PSE signs notifications to /rail-notices/pse.'),
  PSE_NOTICE_SECRET_PREVIOUS: secret('The second notification key during a rotation.').optional(),
} as const;
