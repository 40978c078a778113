import { z } from 'zod';
import { ADDRESS_LOGGING } from '../kit/address-log.ts';
import { ENVIRONMENTS } from '../kit/environment.ts';
import { MAX_CELL } from '../kit/ids.ts';
import { parseTaxId } from '../kit/tax-id.ts';
import { integer, port, url } from './setting-types.ts';

/** Settings of the deployment, its addresses and its operator. */
export const DEPLOYMENT_SETTINGS = {
  CAUDAL_ENV: z
    .enum(ENVIRONMENTS)
    .describe(
      'Environment of this deployment. Staging connects to the simulator, production to the rails. A database belongs to one environment permanently.',
    ),
  CAUDAL_CELL: integer(0, MAX_CELL, 'Number of this cell, encoded in every id it generates.').default(0),
  CAUDAL_HOST: z.string().min(1).default('127.0.0.1').describe('Address the API listens on.'),
  CAUDAL_PORT: port('Port of the API; 0 selects a free port.').default(8080),
  CAUDAL_OPS_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address that /livez, /readyz and /metrics listen on. Keep it private.'),
  CAUDAL_OPS_PORT: port('Port of /livez, /readyz and /metrics; 0 selects a free port.').default(9090),
  CAUDAL_BASE_URL: url('Public base URL of the API for merchants.'),
  CAUDAL_CHECKOUT_URL: url(
    'Public base URL of the hosted checkout pages for payers. At most 180 characters: PSE limits return URLs to 255.',
  ).refine((value) => value.length <= 180, 'at most 180 characters'),
  CAUDAL_OPERATOR_NAME: z
    .string()
    .min(1)
    .max(60)
    .default('Caudal')
    .describe('Name of the operator of this deployment, shown in the footer of checkout pages.'),
  CAUDAL_OPERATOR_LEGAL_NAME: z
    .string()
    .min(1)
    .max(160)
    .optional()
    .describe('Registered company name of the operator, shown in the footer of checkout pages.'),
  CAUDAL_OPERATOR_TAX_ID: z
    .string()
    .refine((value) => parseTaxId(value) !== null, 'a NIT with its check digit, such as 900123456-8')
    .optional()
    .describe('NIT of the operator with its check digit, shown in the footer of checkout pages.'),
  CAUDAL_OPERATOR_SUPPORT: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Contact of the operator for payers, shown on pages without a shop and for suspended shops: email addresses, phone numbers or https URLs, comma-separated.',
    ),
  CAUDAL_OPERATOR_TERMS_URL: url("The operator's terms of service, linked from checkout pages.").optional(),
  CAUDAL_OPERATOR_PRIVACY_URL: url("The operator's privacy policy, linked from checkout pages.").optional(),
  CAUDAL_TRUSTED_PROXIES: z
    .string()
    .max(500)
    .default('')
    .describe(
      "Comma-separated addresses or CIDR ranges of trusted reverse proxies, whose X-Forwarded-For gives the client's address. `none`: there is no proxy, and X-Forwarded-For is ignored. Not set: like `none`, with a warning in production, because all payers behind an unknown proxy share one address and its limits.",
    ),
  CAUDAL_DRAIN_MS: integer(
    0,
    20_000,
    'How long a stopping API process still accepts requests after /readyz answers 503. Set it longer than load balancers take to remove the process.',
  ).default(5000),
  CAUDAL_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Minimum level of log messages.'),
  CAUDAL_LOG_CLIENT_ADDRESS: z
    .enum(ADDRESS_LOGGING)
    .default('truncated')
    .describe(
      'How request log lines contain the client address: `plain`; `truncated` to its network (/24 for IPv4, /48 for IPv6); or `hashed`, a keyed hash that changes with CAUDAL_KEY_PEPPER.',
    ),
} as const;
