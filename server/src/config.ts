import { z } from 'zod';
import { deriveBytes, keyFromBytes, keyFromSecret, type SecretKey } from './kit/crypto.ts';
import { ENVIRONMENTS, type Environment } from './kit/environment.ts';
import { MAX_CELL } from './kit/ids.ts';

/** Secrets of `npm run dev` start with this; production refuses them, so that a copied file cannot guard money. */
export const DEVELOPMENT_SECRET = 'dev-';

const secret = (about: string) => z.string().min(32, 'at least 32 characters').describe(about);
const whole = (least: number, most: number, about: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .describe(about);
const port = (about: string) => whole(0, 65_535, about);
const url = (about: string) =>
  z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .describe(about);
const postgresUrl = (about: string) => z.url({ protocol: /^postgres(ql)?$/ }).describe(about);

/** Every setting there is. The description is the documentation: docs/reference/configuration.md is made from it. */
export const SETTINGS = {
  CAUDAL_ENV: z
    .enum(ENVIRONMENTS)
    .describe(
      'What this deployment is. Staging is connected to the simulator, production to the rails; a database belongs to one of them for ever.',
    ),
  CAUDAL_CELL: whole(0, MAX_CELL, 'Number of this cell, readable in every id it makes.').default(0),
  CAUDAL_HOST: z.string().min(1).default('127.0.0.1').describe('Address the API listens on.'),
  CAUDAL_PORT: port('Port of the API; 0 takes a free one.').default(8080),
  CAUDAL_OPS_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of /livez, /readyz and /metrics. Keep it inside.'),
  CAUDAL_OPS_PORT: port('Port of /livez, /readyz and /metrics; 0 takes a free one.').default(9090),
  CAUDAL_BASE_URL: url('Address under which merchants reach the API.'),
  CAUDAL_CHECKOUT_URL: url(
    'Address under which payers reach the hosted pages. At most 180 characters: PSE takes return addresses of 255.',
  ).refine((value) => value.length <= 180, 'at most 180 characters'),
  CAUDAL_OPERATOR_NAME: z
    .string()
    .min(1)
    .max(60)
    .default('Caudal')
    .describe("Who runs this deployment, at the foot of payers' pages."),
  CAUDAL_TRUSTED_PROXIES: z
    .string()
    .max(500)
    .default('')
    .describe(
      'Addresses or ranges of the proxies in front, separated by commas: their X-Forwarded-For says where a payer is. Empty: nobody is believed.',
    ),
  CAUDAL_DRAIN_MS: whole(
    0,
    20_000,
    'How long a stopping API still takes requests after /readyz says no, so that a load balancer notices.',
  ).default(0),
  CAUDAL_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least important level that is logged.'),
  DATABASE_URL: postgresUrl(
    'PostgreSQL as the owner of the schema. `migrate` needs it; the other roles only when the three below are not set.',
  ).optional(),
  DATABASE_READ_URL: postgresUrl('PostgreSQL as `caudal_read`.').optional(),
  DATABASE_BATCH_URL: postgresUrl('PostgreSQL as `caudal_batch`.').optional(),
  DATABASE_SYSTEM_URL: postgresUrl('PostgreSQL as `caudal_system`.').optional(),
  CAUDAL_DATABASE_DEADLINE_MS: whole(
    200,
    60_000,
    'Longest a single statement may take before its connection is given up.',
  ).default(5000),
  CAUDAL_READ_CONNECTIONS: whole(1, 200, 'Connections for reading.').default(8),
  CAUDAL_BATCH_LANES: whole(
    1,
    16,
    'Most batches of commands under way at the same time; the next is begun when the one before takes long.',
  ).default(2),
  CAUDAL_WRITES_PER_SECOND: whole(
    0,
    1_000_000,
    'Requests a second by which one organization may change something, as each API process counts: two processes let twice as many through. Five seconds of it may come at once. 0: no limit. `caudal org limits` sets it for one organization.',
  ).default(100),
  CAUDAL_READS_PER_SECOND: whole(0, 1_000_000, 'The same for requests that only read.').default(200),
  CAUDAL_MOST_AT_ONCE: whole(
    1,
    10_000,
    'Most requests of merchants of one kind (writes, reads) that an API process works on at once; others get 503. When they take long it lowers this by itself.',
  ).default(256),
  CAUDAL_SETTLEMENT_DELAY_MINUTES: whole(
    0,
    43_200,
    'How long after its confirmation the money of a payin becomes available.',
  ).default(0),
  CAUDAL_MASTER_KEY: secret(
    "Wraps every organization's data key; also the source of the database roles' passwords when they are not given.",
  ),
  CAUDAL_MASTER_KEY_PREVIOUS: secret(
    'The other master key while a rotation lasts. Give the new one here first, on every process; then swap the two; then run `caudal secrets rewrap` and drop the old one. Database passwords derive from this one if it is set: give the three role addresses before a rotation.',
  ).optional(),
  CAUDAL_KEY_PEPPER: secret('Under it API keys and tokens are stored as HMAC.'),
  CAUDAL_KEY_PEPPER_PREVIOUS: secret(
    'The other pepper while a rotation lasts. Give the new one here first, on every process; then swap the two; keys move to the new one as they are used.',
  ).optional(),
  CAUDAL_TOKEN_KEY: secret('Signs cursors and hides ids in checkout addresses.'),
  BREB_URL: url('Address of the Bre-B node.'),
  BREB_CLIENT_ID: z.string().min(1).describe('OAuth2 client at the Bre-B node.'),
  BREB_CLIENT_SECRET: z.string().min(1).describe('Its secret.'),
  BREB_NOTICE_SECRET: secret('Under it the node signs what it tells us at /rail-notices/breb.'),
  BREB_NOTICE_SECRET_PREVIOUS: secret('The other one while a rotation lasts.').optional(),
  BREB_KEY_PREFIX: z
    .string()
    .regex(/^[A-Z0-9]{2,4}$/, 'two to four capital letters or digits')
    .default('CDL')
    .describe('First letters of the single-use keys we mint.'),
  BREB_PAYER_DOCUMENT: z
    .string()
    .regex(/^\d{6,12}$/, '6 to 12 digits')
    .default('900000001')
    .describe(
      'The NIT in whose name payouts are ordered at the Bre-B node, whichever organization they are for.',
    ),
  BREB_NETWORK: z
    .string()
    .regex(/^[A-Z0-9]{2,6}$/)
    .default('CRB')
    .describe('Sponsoring network, written in QR codes as `CO.COM.<network>…`.'),
  BREB_NETWORK_ID: z
    .string()
    .regex(/^[A-Z0-9]{2,6}$/)
    .default('CRB')
    .describe('Network id in tag 49 of QR codes.'),
  PSE_URL: url('Address of the PSE service.'),
  PSE_ENTITY: z.string().min(1).describe('Our entity code at PSE.'),
  PSE_SECRET: z.string().min(1).describe('Its secret.'),
  PSE_NOTICE_SECRET: secret('Under it PSE signs what it tells us at /rail-notices/pse.'),
  PSE_NOTICE_SECRET_PREVIOUS: secret('The other one while a rotation lasts.').optional(),
  CAUDAL_WEBHOOKS_TO_LOOPBACK: z
    .enum(['yes', 'no'])
    .default('no')
    .describe(
      'Whether webhooks may be sent to this machine, over http too: for development and staging. Production refuses it.',
    ),
  CAUDAL_DUE_EVERY_MS: whole(10, 10_000, 'How often a worker looks for work that is due.').default(200),
  CAUDAL_FAILPOINT: z
    .string()
    .regex(/^[A-Za-z_: ]{1,80}(?:#\d{1,6})?$/)
    .optional()
    .describe(
      'For tests: the process ends itself at this named point (`caudal failpoints list` shows them), as by kill -9.',
    ),
} as const;

export const SECRETS = [
  'CAUDAL_MASTER_KEY',
  'CAUDAL_MASTER_KEY_PREVIOUS',
  'CAUDAL_KEY_PEPPER',
  'CAUDAL_KEY_PEPPER_PREVIOUS',
  'CAUDAL_TOKEN_KEY',
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

export interface Config {
  readonly environment: Environment;
  readonly cell: number;
  readonly http: { readonly host: string; readonly port: number };
  readonly ops: { readonly host: string; readonly port: number };
  readonly baseUrl: string;
  readonly checkoutUrl: string;
  readonly operatorName: string;
  readonly trustedProxies: readonly string[];
  readonly logLevel: string;
  readonly drainMs: number;
  readonly database: {
    readonly ownerUrl: string | null;
    readonly readUrl: string;
    readonly batchUrl: string;
    readonly systemUrl: string;
    readonly deadlineMs: number;
    readonly readConnections: number;
    readonly batchLanes: number;
  };
  readonly limits: {
    readonly writesPerSecond: number;
    readonly readsPerSecond: number;
    readonly mostAtOnce: number;
  };
  readonly settlementDelayMinutes: number;
  readonly masterKeys: readonly SecretKey[];
  readonly peppers: readonly SecretKey[];
  readonly tokenKey: SecretKey;
  readonly breb: {
    readonly url: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly keyPrefix: string;
    readonly payerDocument: string;
    readonly network: string;
    readonly networkId: string;
  };
  readonly pse: { readonly url: string; readonly entity: string; readonly secret: string };
  /** Under which the rails sign their notices: the present secret, and the previous one during a rotation. */
  readonly noticeSecrets: Readonly<Record<'BRE_B' | 'PSE', readonly SecretKey[]>>;
  readonly webhooksToLoopback: boolean;
  readonly dueEveryMs: number;
  readonly failpoint: string | null;
}

/** Thrown with every fault of the configuration at once: one restart mends them all. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

type Given = Readonly<Record<string, string | undefined>>;

/** What is set, as text and not yet judged: for whoever looks for weaknesses. It holds secrets. */
export function givenSettings(environment: Given = process.env): Given {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/**
 * Settings from a file, where the environment does not say otherwise.
 * @throws ConfigError when it cannot be read
 */
export function loadSettings(file: string): void {
  try {
    process.loadEnvFile(file);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ConfigError([`${file} ${missing ? 'does not exist' : 'cannot be read'} (--env-file)`]);
  }
}

export function readConfig(role: Role, environment: Given = process.env): Config {
  const given = givenSettings(environment);
  const parsed = schema.safeParse(given);
  const faults = parsed.success ? [] : parsed.error.issues.map((issue) => faultText(issue, given));
  faults.push(...databaseFaults(role, given), ...unknownSettings(given));
  if (given['CAUDAL_ENV'] === 'production') faults.push(...productionFaults(given));
  if (faults.length > 0 || !parsed.success) throw new ConfigError(faults);
  return configOf(parsed.data);
}

function faultText(issue: z.core.$ZodIssue, given: Given): string {
  const name = String(issue.path[0]);
  return given[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
}

function databaseFaults(role: Role, given: Given): string[] {
  if (given['DATABASE_URL'] !== undefined) return [];
  if (role === 'migrate') return ['DATABASE_URL is not set (migrate connects as the owner of the schema)'];
  return ['DATABASE_READ_URL', 'DATABASE_BATCH_URL', 'DATABASE_SYSTEM_URL']
    .filter((name) => given[name] === undefined)
    .map((name) => `${name} is not set, nor DATABASE_URL`);
}

/** Of the command line for merchants, which may share a shell with us. */
const NOT_OURS: ReadonlySet<string> = new Set(['CAUDAL_API_KEY', 'CAUDAL_PROFILE', 'CAUDAL_SIMULATOR_URL']);

/** A misspelt setting would silently leave its default in force. */
function unknownSettings(given: Given): string[] {
  return Object.keys(given)
    .filter((name) => /^(?:CAUDAL|BREB|PSE)_/.test(name) && !(name in SETTINGS) && !NOT_OURS.has(name))
    .map((name) => `${name} is not a setting`);
}

/** Names of secrets that have one value. */
export function equalSecrets(given: Given): string[][] {
  return [...Map.groupBy(SECRETS, (name) => given[name])].flatMap(([value, names]) =>
    value !== undefined && names.length > 1 ? [names] : [],
  );
}

/** Whether it has too few different characters to have come out of a generator. */
export function isSimple(secret: string): boolean {
  return new Set(secret).size < 8;
}

function productionFaults(given: Given): string[] {
  const faults: string[] = [];
  for (const name of SECRETS) {
    const value = given[name];
    if (value?.startsWith(DEVELOPMENT_SECRET))
      faults.push(`${name} is a development secret: production refuses it`);
    else if (value !== undefined && isSimple(value)) faults.push(`${name} is too simple to be a secret`);
  }
  if (given['BREB_PAYER_DOCUMENT'] === undefined)
    faults.push('BREB_PAYER_DOCUMENT is not set: production pays under a NIT of its own');
  if (given['CAUDAL_FAILPOINT'] !== undefined)
    faults.push('CAUDAL_FAILPOINT is for tests: production refuses it');
  if (given['CAUDAL_WEBHOOKS_TO_LOOPBACK'] === 'yes')
    faults.push('CAUDAL_WEBHOOKS_TO_LOOPBACK is for development: production refuses it');
  for (const name of ['CAUDAL_BASE_URL', 'CAUDAL_CHECKOUT_URL', 'BREB_URL', 'PSE_URL']) {
    if (/^\s*http:/i.test(given[name] ?? '')) faults.push(`${name} must be https in production`);
  }
  for (const names of equalSecrets(given))
    faults.push(`${names.join(' and ')} are equal: each has its own purpose and its own value`);
  return faults;
}

function configOf(settings: Settings): Config {
  const given = (...secrets: (string | undefined)[]) =>
    secrets.filter((value) => value !== undefined).map(keyFromSecret);
  // The rail uses its bytes as they are.
  const shared = (...secrets: (string | undefined)[]) =>
    secrets.filter((value) => value !== undefined).map((value) => keyFromBytes(Buffer.from(value)));
  const masterKeys = given(settings.CAUDAL_MASTER_KEY, settings.CAUDAL_MASTER_KEY_PREVIOUS);
  const peppers = given(settings.CAUDAL_KEY_PEPPER, settings.CAUDAL_KEY_PEPPER_PREVIOUS);
  const roleUrl = (address: string | undefined, role: string) =>
    address ??
    derivedUrl(
      settings.DATABASE_URL ?? '',
      role,
      keyFromSecret(settings.CAUDAL_MASTER_KEY_PREVIOUS ?? settings.CAUDAL_MASTER_KEY),
    );
  return {
    environment: settings.CAUDAL_ENV,
    cell: settings.CAUDAL_CELL,
    http: { host: settings.CAUDAL_HOST, port: settings.CAUDAL_PORT },
    ops: { host: settings.CAUDAL_OPS_HOST, port: settings.CAUDAL_OPS_PORT },
    baseUrl: settings.CAUDAL_BASE_URL,
    checkoutUrl: settings.CAUDAL_CHECKOUT_URL,
    operatorName: settings.CAUDAL_OPERATOR_NAME,
    trustedProxies: settings.CAUDAL_TRUSTED_PROXIES.split(',').flatMap((each) => each.trim() || []),
    logLevel: settings.CAUDAL_LOG_LEVEL,
    drainMs: settings.CAUDAL_DRAIN_MS,
    database: {
      ownerUrl: settings.DATABASE_URL ?? null,
      readUrl: roleUrl(settings.DATABASE_READ_URL, 'caudal_read'),
      batchUrl: roleUrl(settings.DATABASE_BATCH_URL, 'caudal_batch'),
      systemUrl: roleUrl(settings.DATABASE_SYSTEM_URL, 'caudal_system'),
      deadlineMs: settings.CAUDAL_DATABASE_DEADLINE_MS,
      readConnections: settings.CAUDAL_READ_CONNECTIONS,
      batchLanes: settings.CAUDAL_BATCH_LANES,
    },
    limits: {
      writesPerSecond: settings.CAUDAL_WRITES_PER_SECOND,
      readsPerSecond: settings.CAUDAL_READS_PER_SECOND,
      mostAtOnce: settings.CAUDAL_MOST_AT_ONCE,
    },
    settlementDelayMinutes: settings.CAUDAL_SETTLEMENT_DELAY_MINUTES,
    masterKeys,
    peppers,
    tokenKey: keyFromSecret(settings.CAUDAL_TOKEN_KEY),
    breb: {
      url: settings.BREB_URL,
      clientId: settings.BREB_CLIENT_ID,
      clientSecret: settings.BREB_CLIENT_SECRET,
      keyPrefix: settings.BREB_KEY_PREFIX,
      payerDocument: settings.BREB_PAYER_DOCUMENT,
      network: settings.BREB_NETWORK,
      networkId: settings.BREB_NETWORK_ID,
    },
    pse: { url: settings.PSE_URL, entity: settings.PSE_ENTITY, secret: settings.PSE_SECRET },
    noticeSecrets: {
      BRE_B: shared(settings.BREB_NOTICE_SECRET, settings.BREB_NOTICE_SECRET_PREVIOUS),
      PSE: shared(settings.PSE_NOTICE_SECRET, settings.PSE_NOTICE_SECRET_PREVIOUS),
    },
    webhooksToLoopback: settings.CAUDAL_WEBHOOKS_TO_LOOPBACK === 'yes',
    dueEveryMs: settings.CAUDAL_DUE_EVERY_MS,
    failpoint: settings.CAUDAL_FAILPOINT ?? null,
  };
}

/** With one address given, the login roles share it; their passwords come from the master key. */
function derivedUrl(ownerUrl: string, role: string, masterKey: SecretKey): string {
  const address = new URL(ownerUrl);
  address.username = role;
  address.password = deriveBytes(masterKey, `database/${role}`).toString('base64url');
  return address.href;
}
