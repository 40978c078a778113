import { z } from 'zod';
import { AUTHOR_RULE, isAuthor } from './kit/author.ts';
import { deriveBytes, keyFromBytes, keyFromSecret, type SecretKey } from './kit/crypto.ts';
import { ROLE_KINDS, type RoleKind, roleNames } from './kit/database-roles.ts';
import { type SigningKey, signingKeyFromSeed } from './kit/ed25519.ts';
import { ENVIRONMENTS } from './kit/environment.ts';
import { MAX_CELL } from './kit/ids.ts';
import { type Cents, cents } from './kit/money.ts';
import { parseTaxId } from './kit/tax-id.ts';
import { parseKeyIds, parseRetiredKeys } from './receipts/key-settings.ts';
import { receiptKeyId } from './receipts/receipt-keys.ts';

/** Prefix of the secrets of `npm run dev`; production rejects them, so that a copied file cannot protect real money. */
export const DEVELOPMENT_SECRET = 'dev-';

const secret = (description: string) => z.string().min(32, 'at least 32 characters').describe(description);
const integer = (min: number, max: number, description: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .describe(description);
const pesosToCents = (pesos: number): Cents => cents(BigInt(pesos) * 100n);
const port = (description: string) => integer(0, 65_535, description);
const url = (description: string) =>
  z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .describe(description);
const yesOrNo = (byDefault: 'yes' | 'no', description: string) =>
  z.enum(['yes', 'no']).default(byDefault).describe(description);
const network = (description: string) =>
  z
    .string()
    .regex(/^[A-Z0-9]{2,6}$/)
    .default('CRB')
    .describe(description);
const postgresUrl = (description: string) => z.url({ protocol: /^postgres(ql)?$/ }).describe(description);

/** All settings. The descriptions are the documentation: docs/reference/configuration.md is generated from them. */
export const SETTINGS = {
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
      "Comma-separated addresses or CIDR ranges of trusted reverse proxies, whose X-Forwarded-For gives the payer's address. Empty: X-Forwarded-For is ignored.",
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
  DATABASE_URL: postgresUrl(
    'PostgreSQL URL of the schema owner. Required by `migrate`; other processes need it only when the three URLs below are not set.',
  ).optional(),
  DATABASE_READ_URL: postgresUrl('PostgreSQL URL of the role `caudal_read`.').optional(),
  DATABASE_BATCH_URL: postgresUrl('PostgreSQL URL of the role `caudal_batch`.').optional(),
  DATABASE_SYSTEM_URL: postgresUrl('PostgreSQL URL of the role `caudal_system`.').optional(),
  DATABASE_BACKUP_URL: postgresUrl(
    'PostgreSQL URL of the role `caudal_backup`, used by `pg_dump`. Only `migrate` reads it, to set the password. When it is not set, an administrator sets the password.',
  ).optional(),
  CAUDAL_DATABASE_ROLE_PREFIX: z
    .string()
    .regex(/^(?!pg_)[a-z][a-z0-9_]{0,39}$/, 'up to 40 lower-case letters, digits and underscores')
    .default('caudal')
    .describe(
      'Prefix of the database role names (`caudal_read`, …). Roles are shared by the whole PostgreSQL cluster, so a second deployment in it needs another prefix. A database keeps the prefix it was first migrated with.',
    ),
  CAUDAL_MIGRATE_LOCK_WAIT_SECONDS: integer(
    1,
    86_400,
    'How long `migrate` retries a migration while other sessions hold a lock that it needs.',
  ).default(300),
  CAUDAL_DATABASE_DEADLINE_MS: integer(
    200,
    60_000,
    'Maximum duration of a single statement before its connection is closed.',
  ).default(5000),
  CAUDAL_DATABASE_START_WAIT_MS: integer(
    0,
    600_000,
    'How long a starting process waits while PostgreSQL is starting or unreachable, before it exits with code 1. A rejected login is not waited for.',
  ).default(60_000),
  CAUDAL_READ_CONNECTIONS: integer(
    1,
    200,
    'Maximum database connections of an API process for reads. docs/operating/run-it.md lists all connections of a process.',
  ).default(8),
  CAUDAL_SYSTEM_CONNECTIONS: integer(
    2,
    200,
    'Maximum database connections of a process for everything except merchant requests: worker loops, authentication, rail notices. Default: 6 in an API process, 10 in a worker.',
  ).optional(),
  CAUDAL_MAX_PENDING_COMMITS: integer(
    1,
    1000,
    'Maximum commits of a process that stay unanswered in PostgreSQL, which happens when a synchronous standby is missing. Each one occupies a server connection. At the limit, writes are rejected with 503 and /readyz reports `commits_pending`.',
  ).default(8),
  CAUDAL_BATCH_LANES: integer(
    1,
    16,
    'Maximum concurrent batches of commands; another batch starts when the current one is slow.',
  ).default(2),
  CAUDAL_WRITES_PER_SECOND: integer(
    0,
    1_000_000,
    'Write requests per second per organization, enforced per API process. Bursts of up to five seconds of the limit are allowed. 0: no limit. `caudal org limits` overrides it for one organization.',
  ).default(100),
  CAUDAL_READS_PER_SECOND: integer(
    0,
    1_000_000,
    'Read requests per second per organization, enforced like CAUDAL_WRITES_PER_SECOND.',
  ).default(200),
  CAUDAL_MAX_CONCURRENT_REQUESTS: integer(
    1,
    10_000,
    'Maximum concurrent merchant requests per API process, separately for writes and reads; further requests get 503. The process lowers the limit automatically when requests are slow.',
  ).default(256),
  CAUDAL_SETTLEMENT_DELAY_MINUTES: integer(
    0,
    43_200,
    'Delay between the confirmation of a payin and the availability of its money.',
  ).default(0),
  CAUDAL_MASTER_KEY: secret(
    "Encrypts every organization's data key. The passwords of the database roles are derived from it when their URLs are not set.",
  ),
  CAUDAL_MASTER_KEY_PREVIOUS: secret(
    'The second master key during a rotation. First set the new key here on every process; then swap the two; then run `caudal secrets rewrap --by NAME` and remove the old key. While this is set, database passwords are derived from it: set the three role URLs before a rotation.',
  ).optional(),
  CAUDAL_KEY_PEPPER: secret('HMAC key under which API keys and access tokens are stored.'),
  CAUDAL_KEY_PEPPER_PREVIOUS: secret(
    'The second pepper during a rotation. First set the new pepper here on every process; then swap the two. API keys move to the new pepper as they are used.',
  ).optional(),
  CAUDAL_TOKEN_KEY: secret('Signs cursors and encrypts ids in checkout URLs.'),
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
  CAUDAL_SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe(
      'SMTP server that sends receipts, with its credentials: `smtps://user:password@host:465` or `smtp://…` with STARTTLS. Production requires TLS. Not set: pages offer no e-mail.',
    ),
  CAUDAL_MAIL_FROM: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[^\r\n]*@[^\r\n]*$/, 'an e-mail address, or `Name <address>`')
    .optional()
    .describe('Sender of e-mails: an address, or `Name <address>`. Required with CAUDAL_SMTP_URL.'),
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
  CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: yesOrNo(
    'no',
    'Whether webhooks may be sent to loopback addresses, also over plain HTTP. For development and staging; rejected in production.',
  ),
  CAUDAL_WORKER_POLL_MS: integer(
    10,
    10_000,
    'Poll interval of a worker that has work. An idle worker polls one fifth as often; signals from other processes wake it earlier.',
  ).default(200),
  CAUDAL_WORK_NOTIFICATIONS: yesOrNo(
    'yes',
    'Whether API processes wake workers with NOTIFY, over a dedicated connection. With `no`, workers find new work by polling.',
  ),
  CAUDAL_BY: z
    .string()
    .refine(isAuthor, AUTHOR_RULE)
    .optional()
    .describe(
      'Author of operator commands that run without `--by`. Set it in the shell of one person or in a deploy job, never in a file that several people share: the audit log would record the wrong author.',
    ),
  CAUDAL_FAILPOINT: z
    .string()
    .regex(/^[A-Za-z_: ]{1,80}(?:#\d{1,6})?$/)
    .optional()
    .describe(
      'For tests: the process kills itself at this failpoint, as with kill -9. `caudal failpoints list` lists the names.',
    ),
} as const;

export const SECRETS = [
  'CAUDAL_MASTER_KEY',
  'CAUDAL_MASTER_KEY_PREVIOUS',
  'CAUDAL_KEY_PEPPER',
  'CAUDAL_KEY_PEPPER_PREVIOUS',
  'CAUDAL_TOKEN_KEY',
  'CAUDAL_RECEIPT_KEY',
  'BREB_CLIENT_SECRET',
  'BREB_NOTICE_SECRET',
  'BREB_NOTICE_SECRET_PREVIOUS',
  'PSE_SECRET',
  'PSE_NOTICE_SECRET',
  'PSE_NOTICE_SECRET_PREVIOUS',
] as const;

const schema = z.object(SETTINGS);
type Settings = z.infer<typeof schema>;

export type Role = 'api' | 'worker' | 'migrate' | 'all' | 'operator';

export type Config = Readonly<ReturnType<typeof toConfig>>;

/** Lists all configuration problems at once, so that one restart can fix all of them. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `the configuration has ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type RawSettings = Readonly<Record<string, string | undefined>>;

/** Unvalidated settings as text, for checks of weak secrets. Contains secrets. */
export function rawSettings(environment: RawSettings = process.env): RawSettings {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** Author of operator commands from CAUDAL_BY; null when it is not set. Works when other settings are missing. */
export function authorFromSettings(environment: RawSettings = process.env): string | null {
  return rawSettings(environment)['CAUDAL_BY'] ?? null;
}

/**
 * Loads settings from a file; environment variables take precedence.
 * @throws ConfigError when the file cannot be read
 */
export function loadEnvFile(file: string): void {
  try {
    process.loadEnvFile(file);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ConfigError([`${file} ${missing ? 'does not exist' : 'cannot be read'} (--env-file)`]);
  }
}

export function readConfig(role: Role, environment: RawSettings = process.env): Config {
  const raw = rawSettings(environment);
  const parsed = schema.safeParse(raw);
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => describeIssue(issue, raw));
  problems.push(...findMissingDatabaseUrls(role, raw), ...findWrongLogins(raw), ...findUnknownSettings(raw));
  if (parsed.success) problems.push(...findRevokedReceiptKey(parsed.data));
  if ((raw['CAUDAL_SMTP_URL'] === undefined) !== (raw['CAUDAL_MAIL_FROM'] === undefined))
    problems.push('CAUDAL_SMTP_URL and CAUDAL_MAIL_FROM must be set together');
  if (raw['CAUDAL_ENV'] === 'production') problems.push(...findProductionProblems(raw));
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return toConfig(parsed.data);
}

function describeIssue(issue: z.core.$ZodIssue, raw: RawSettings): string {
  const name = String(issue.path[0]);
  return raw[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
}

function findMissingDatabaseUrls(role: Role, raw: RawSettings): string[] {
  if (raw['DATABASE_URL'] !== undefined) return [];
  if (role === 'migrate') return ['DATABASE_URL is not set (migrate connects as the owner of the schema)'];
  return ['DATABASE_READ_URL', 'DATABASE_BATCH_URL', 'DATABASE_SYSTEM_URL']
    .filter((name) => raw[name] === undefined)
    .map((name) => `${name} is not set, nor DATABASE_URL`);
}

/** New receipts would be rejected by everyone who verifies them. */
function findRevokedReceiptKey(settings: Settings): string[] {
  const id = receiptKeyId(receiptKey(settings.CAUDAL_RECEIPT_KEY).publicKey);
  return parseKeyIds(settings.CAUDAL_RECEIPT_KEYS_REVOKED)?.includes(id)
    ? [
        `CAUDAL_RECEIPT_KEYS_REVOKED contains ${id}, the id of CAUDAL_RECEIPT_KEY: set a new CAUDAL_RECEIPT_KEY`,
      ]
    : [];
}

/** Privileges are granted to roles by name: a URL with another login would connect and see no rows. */
function findWrongLogins(raw: RawSettings): string[] {
  const prefix = raw['CAUDAL_DATABASE_ROLE_PREFIX'] ?? 'caudal';
  return ROLE_KINDS.flatMap((kind) => {
    const setting = `DATABASE_${kind.toUpperCase()}_URL`;
    const url = raw[setting];
    if (url === undefined || !URL.canParse(url)) return [];
    const login = decodeURIComponent(new URL(url).username);
    return login === roleNames(prefix)[kind]
      ? []
      : [
          `${setting} logs in as "${login}": the role is named ${roleNames(prefix)[kind]} (CAUDAL_DATABASE_ROLE_PREFIX)`,
        ];
  });
}

/** Settings of the merchant CLI, which may run in the same shell. */
const CLI_SETTINGS: ReadonlySet<string> = new Set([
  'CAUDAL_API_KEY',
  'CAUDAL_PROFILE',
  'CAUDAL_SIMULATOR_URL',
]);

/** A misspelled setting would silently leave its default in effect. */
function findUnknownSettings(raw: RawSettings): string[] {
  return Object.keys(raw)
    .filter((name) => /^(?:CAUDAL|BREB|PSE)_/.test(name) && !(name in SETTINGS) && !CLI_SETTINGS.has(name))
    .map((name) => `${name} is not a setting`);
}

/** Groups of secrets that have the same value. */
export function findEqualSecrets(raw: RawSettings): string[][] {
  return [...Map.groupBy(SECRETS, (name) => raw[name])].flatMap(([value, names]) =>
    value !== undefined && names.length > 1 ? [names] : [],
  );
}

/** Whether the secret has too few different characters to be randomly generated. */
export function isLowEntropy(secret: string): boolean {
  return new Set(secret).size < 8;
}

function findProductionProblems(raw: RawSettings): string[] {
  const problems: string[] = [];
  for (const name of SECRETS) {
    const value = raw[name];
    if (value?.startsWith(DEVELOPMENT_SECRET))
      problems.push(`${name} is a development secret: not allowed in production`);
    else if (value !== undefined && isLowEntropy(value))
      problems.push(`${name} is too simple to be a secret`);
  }
  if (raw['BREB_PAYER_DOCUMENT'] === undefined)
    problems.push('BREB_PAYER_DOCUMENT is not set: production requires the NIT of the operator');
  if (raw['CAUDAL_FAILPOINT'] !== undefined)
    problems.push('CAUDAL_FAILPOINT is for tests: not allowed in production');
  if (raw['CAUDAL_WEBHOOKS_ALLOW_LOOPBACK'] === 'yes')
    problems.push('CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is for development: not allowed in production');
  for (const name of [
    'CAUDAL_BASE_URL',
    'CAUDAL_CHECKOUT_URL',
    'CAUDAL_OPERATOR_TERMS_URL',
    'CAUDAL_OPERATOR_PRIVACY_URL',
    'BREB_URL',
    'PSE_URL',
  ]) {
    if (/^\s*http:/i.test(raw[name] ?? '')) problems.push(`${name} must be https in production`);
  }
  for (const names of findEqualSecrets(raw))
    problems.push(`${names.join(' and ')} are equal: each secret must have its own value`);
  return problems;
}

function toConfig(settings: Settings) {
  const derivedKeys = (...secrets: (string | undefined)[]) =>
    secrets.filter((value) => value !== undefined).map(keyFromSecret);
  // The rail uses the bytes of the secret directly as the HMAC key.
  const rawKeys = (...secrets: (string | undefined)[]) =>
    secrets.filter((value) => value !== undefined).map((value) => keyFromBytes(Buffer.from(value)));
  const masterKeys = derivedKeys(settings.CAUDAL_MASTER_KEY, settings.CAUDAL_MASTER_KEY_PREVIOUS);
  const peppers = derivedKeys(settings.CAUDAL_KEY_PEPPER, settings.CAUDAL_KEY_PEPPER_PREVIOUS);
  const roles = roleNames(settings.CAUDAL_DATABASE_ROLE_PREFIX);
  const roleUrl = (url: string | undefined, kind: RoleKind) =>
    url ??
    deriveRoleUrl(
      settings.DATABASE_URL ?? '',
      roles[kind],
      keyFromSecret(settings.CAUDAL_MASTER_KEY_PREVIOUS ?? settings.CAUDAL_MASTER_KEY),
    );
  return {
    environment: settings.CAUDAL_ENV,
    cell: settings.CAUDAL_CELL,
    http: { host: settings.CAUDAL_HOST, port: settings.CAUDAL_PORT },
    ops: { host: settings.CAUDAL_OPS_HOST, port: settings.CAUDAL_OPS_PORT },
    baseUrl: settings.CAUDAL_BASE_URL,
    checkoutUrl: settings.CAUDAL_CHECKOUT_URL,
    operator: {
      name: settings.CAUDAL_OPERATOR_NAME,
      legalName: settings.CAUDAL_OPERATOR_LEGAL_NAME ?? null,
      taxId: parseTaxId(settings.CAUDAL_OPERATOR_TAX_ID ?? ''),
      support: settings.CAUDAL_OPERATOR_SUPPORT ?? null,
      termsUrl: settings.CAUDAL_OPERATOR_TERMS_URL ?? null,
      privacyUrl: settings.CAUDAL_OPERATOR_PRIVACY_URL ?? null,
    },
    trustedProxies: settings.CAUDAL_TRUSTED_PROXIES.split(',').flatMap((each) => each.trim() || []),
    logLevel: settings.CAUDAL_LOG_LEVEL,
    drainMs: settings.CAUDAL_DRAIN_MS,
    database: {
      ownerUrl: settings.DATABASE_URL ?? null,
      readUrl: roleUrl(settings.DATABASE_READ_URL, 'read'),
      batchUrl: roleUrl(settings.DATABASE_BATCH_URL, 'batch'),
      systemUrl: roleUrl(settings.DATABASE_SYSTEM_URL, 'system'),
      backupUrl: settings.DATABASE_BACKUP_URL ?? null,
      rolePrefix: settings.CAUDAL_DATABASE_ROLE_PREFIX,
      roles,
      migrateLockWaitSeconds: settings.CAUDAL_MIGRATE_LOCK_WAIT_SECONDS,
      deadlineMs: settings.CAUDAL_DATABASE_DEADLINE_MS,
      startWaitMs: settings.CAUDAL_DATABASE_START_WAIT_MS,
      readConnections: settings.CAUDAL_READ_CONNECTIONS,
      /** Null: the default of the process role. */
      systemConnections: settings.CAUDAL_SYSTEM_CONNECTIONS ?? null,
      batchLanes: settings.CAUDAL_BATCH_LANES,
      maxPendingCommits: settings.CAUDAL_MAX_PENDING_COMMITS,
    },
    limits: {
      writesPerSecond: settings.CAUDAL_WRITES_PER_SECOND,
      readsPerSecond: settings.CAUDAL_READS_PER_SECOND,
      maxConcurrentRequests: settings.CAUDAL_MAX_CONCURRENT_REQUESTS,
    },
    settlementDelayMinutes: settings.CAUDAL_SETTLEMENT_DELAY_MINUTES,
    masterKeys,
    peppers,
    tokenKey: keyFromSecret(settings.CAUDAL_TOKEN_KEY),
    receiptKeys: {
      current: receiptKey(settings.CAUDAL_RECEIPT_KEY),
      retired: parseRetiredKeys(settings.CAUDAL_RECEIPT_KEYS_RETIRED) ?? [],
      revokedIds: parseKeyIds(settings.CAUDAL_RECEIPT_KEYS_REVOKED) ?? [],
    },
    /** Null: the deployment sends no e-mail. */
    mail:
      settings.CAUDAL_SMTP_URL !== undefined && settings.CAUDAL_MAIL_FROM !== undefined
        ? {
            url: settings.CAUDAL_SMTP_URL,
            from: settings.CAUDAL_MAIL_FROM,
            requireTls: settings.CAUDAL_ENV === 'production',
          }
        : null,
    breb: {
      url: settings.BREB_URL,
      clientId: settings.BREB_CLIENT_ID,
      clientSecret: settings.BREB_CLIENT_SECRET,
      keyPrefix: settings.BREB_KEY_PREFIX,
      payerDocument: settings.BREB_PAYER_DOCUMENT,
      receiverName: settings.BREB_RECEIVER_NAME ?? settings.CAUDAL_OPERATOR_NAME,
      maxAmount: pesosToCents(settings.BREB_MAX_AMOUNT_PESOS),
      network: settings.BREB_NETWORK,
      networkId: settings.BREB_NETWORK_ID,
      rejectsDuplicateOrders: settings.BREB_REJECTS_DUPLICATE_ORDERS === 'yes',
      maxProcessingMs: settings.BREB_MAX_PROCESSING_MS,
    },
    pse: {
      url: settings.PSE_URL,
      entity: settings.PSE_ENTITY,
      minAmount: pesosToCents(settings.PSE_MIN_AMOUNT_PESOS),
      maxAmount: pesosToCents(settings.PSE_MAX_AMOUNT_PESOS),
      secret: settings.PSE_SECRET,
      maxProcessingMs: settings.PSE_MAX_PROCESSING_MS,
    },
    /** Keys with which the rails sign their notices: the current one, and the previous one during a rotation. */
    noticeSecrets: {
      BRE_B: rawKeys(settings.BREB_NOTICE_SECRET, settings.BREB_NOTICE_SECRET_PREVIOUS),
      PSE: rawKeys(settings.PSE_NOTICE_SECRET, settings.PSE_NOTICE_SECRET_PREVIOUS),
    },
    webhooksAllowLoopback: settings.CAUDAL_WEBHOOKS_ALLOW_LOOPBACK === 'yes',
    workerPollMs: settings.CAUDAL_WORKER_POLL_MS,
    /** Whether processes send work signals with NOTIFY. */
    workNotifications: settings.CAUDAL_WORK_NOTIFICATIONS === 'yes',
    failpoint: settings.CAUDAL_FAILPOINT ?? null,
  };
}

function receiptKey(secret: string): SigningKey {
  return signingKeyFromSeed(deriveBytes(keyFromSecret(secret), 'receipt signature'));
}

/** Builds the URL of a login role from the owner URL; its password is derived from the master key. */
function deriveRoleUrl(ownerUrl: string, role: string, masterKey: SecretKey): string {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = deriveBytes(masterKey, `database/${role}`).toString('base64url');
  return url.href;
}
