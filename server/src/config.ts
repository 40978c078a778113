import { z } from 'zod';
import { AUTHOR_RULE, isAuthor } from './kit/author.ts';
import { deriveBytes, keyFromBytes, keyFromSecret, type SecretKey } from './kit/crypto.ts';
import { ROLE_KINDS, type RoleKind, type RoleNames, roleNames } from './kit/database-roles.ts';
import { ENVIRONMENTS, type Environment } from './kit/environment.ts';
import { MAX_CELL } from './kit/ids.ts';

/** Secrets of `npm run dev` start with this; production refuses them, so that a copied file cannot guard money. */
export const DEVELOPMENT_SECRET = 'dev-';

const secret = (about: string) => z.string().min(32, 'at least 32 characters').describe(about);
const whole = (least: number, limit: number, about: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(limit))
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
    'How long a stopping API still takes requests after /readyz answers 503, so that load balancers notice: longer than they take to take it out.',
  ).default(5000),
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
  DATABASE_BACKUP_URL: postgresUrl(
    'PostgreSQL as `caudal_backup`, the role of `pg_dump`. Only `migrate` reads it, to set the password; without it an administrator sets one.',
  ).optional(),
  CAUDAL_DATABASE_ROLE_PREFIX: z
    .string()
    .regex(/^(?!pg_)[a-z][a-z0-9_]{0,39}$/, 'up to 40 lower-case letters, digits and underscores')
    .default('caudal')
    .describe(
      'First part of the names of the database roles (`caudal_read`, …). Roles belong to the whole PostgreSQL cluster: a second deployment in it needs a prefix of its own. A database keeps the prefix it was migrated with.',
    ),
  CAUDAL_MIGRATE_LOCK_WAIT_SECONDS: whole(
    1,
    86_400,
    'How long `migrate` retries a migration while other sessions hold a lock that it needs.',
  ).default(300),
  CAUDAL_DATABASE_DEADLINE_MS: whole(
    200,
    60_000,
    'Longest a single statement may take before its connection is given up.',
  ).default(5000),
  CAUDAL_DATABASE_START_WAIT_MS: whole(
    0,
    600_000,
    'How long a starting process waits for a PostgreSQL that is starting or cannot be reached before it ends with exit code 1. A refused login is not waited for.',
  ).default(60_000),
  CAUDAL_READ_CONNECTIONS: whole(
    1,
    200,
    'Most connections of an API process for reads. docs/operating/run-it.md adds up the connections of a process.',
  ).default(8),
  CAUDAL_SYSTEM_CONNECTIONS: whole(
    2,
    200,
    'Most connections of a process for work that is not a merchant request: loops of a worker, credentials, notifications of rails. Not set: 6 in an API process, 10 in a worker.',
  ).optional(),
  CAUDAL_MAX_PENDING_COMMITS: whole(
    1,
    1000,
    'Commits of a process that may stay pending in PostgreSQL without an answer, as they do when a synchronous standby is missing. Each keeps a connection of the server; at the limit writes are refused with 503 and /readyz reports `commits_pending`.',
  ).default(8),
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
  CAUDAL_MAX_CONCURRENT_REQUESTS: whole(
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
    'The other master key while a rotation lasts. Give the new one here first, on every process; then swap the two; then run `caudal secrets rewrap --by NAME` and drop the old one. Database passwords derive from this one if it is set: give the three role addresses before a rotation.',
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
  BREB_REJECTS_DUPLICATE_ORDERS: z
    .enum(['yes', 'no'])
    .default('no')
    .describe(
      'Whether the Bre-B node rejects a second order under the same end-to-end id. Set `yes` only when its API documentation or your contract with it says so: an order that the node does not know is then sent again automatically. With `no` it is only queried, and waits in `caudal payouts unknown` for an operator.',
    ),
  BREB_MAX_PROCESSING_MS: whole(
    5000,
    3_600_000,
    "Longest time the Bre-B node takes with a request, queues of its gateway included, in milliseconds. Take it from the node's service level or API documentation. Until it has passed, an unknown order may still be executed: it is neither sent again nor declined.",
  ).default(120_000),
  PSE_URL: url('Address of the PSE service.'),
  PSE_ENTITY: z.string().min(1).describe('Our entity code at PSE.'),
  PSE_SECRET: z.string().min(1).describe('Its secret.'),
  PSE_MAX_PROCESSING_MS: whole(
    10_000,
    3_600_000,
    'Longest time PSE takes with a request, in milliseconds, from its service documentation. Until it has passed, a transaction that PSE does not know may still be created.',
  ).default(60_000),
  PSE_NOTICE_SECRET: secret('Under it PSE signs what it tells us at /rail-notices/pse.'),
  PSE_NOTICE_SECRET_PREVIOUS: secret('The other one while a rotation lasts.').optional(),
  CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: z
    .enum(['yes', 'no'])
    .default('no')
    .describe(
      'Whether webhooks may be sent to this machine, over http too: for development and staging. Production refuses it.',
    ),
  CAUDAL_WORKER_POLL_MS: whole(
    10,
    10_000,
    'Interval between two polls of a worker that has work. An idle worker polls a fifth as often; signals of other processes wake it sooner.',
  ).default(200),
  CAUDAL_WORK_NOTIFICATIONS: z
    .enum(['yes', 'no'])
    .default('yes')
    .describe(
      'Whether API processes wake workers by NOTIFY, on a connection of their own. With `no`, workers find new work by polling.',
    ),
  CAUDAL_BY: z
    .string()
    .refine(isAuthor, AUTHOR_RULE)
    .optional()
    .describe(
      'Who runs operator commands, where they are not given `--by`. Set it in the shell of one person or in a deploy job, never in a file that several people use: the audit would name the wrong one.',
    ),
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
    readonly backupUrl: string | null;
    readonly rolePrefix: string;
    readonly roles: RoleNames;
    readonly migrateLockWaitSeconds: number;
    readonly deadlineMs: number;
    readonly startWaitMs: number;
    readonly readConnections: number;
    /** Null: as many as the role of the process needs. */
    readonly systemConnections: number | null;
    readonly batchLanes: number;
    readonly maxPendingCommits: number;
  };
  readonly limits: {
    readonly writesPerSecond: number;
    readonly readsPerSecond: number;
    readonly maxConcurrentRequests: number;
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
    readonly rejectsDuplicateOrders: boolean;
    readonly maxProcessingMs: number;
  };
  readonly pse: {
    readonly url: string;
    readonly entity: string;
    readonly secret: string;
    readonly maxProcessingMs: number;
  };
  /** Under which the rails sign their notices: the present secret, and the previous one during a rotation. */
  readonly noticeSecrets: Readonly<Record<'BRE_B' | 'PSE', readonly SecretKey[]>>;
  readonly webhooksToLoopback: boolean;
  readonly dueEveryMs: number;
  /** Whether work signals travel between processes by NOTIFY. */
  readonly workNotifications: boolean;
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

/** Who runs this command by the setting CAUDAL_BY; null when it is not set. Readable where other settings are missing. */
export function givenAuthor(environment: Given = process.env): string | null {
  return givenSettings(environment)['CAUDAL_BY'] ?? null;
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
  faults.push(...databaseFaults(role, given), ...roleFaults(given), ...unknownSettings(given));
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

/** Rights are granted to roles by their names: an address with another login would be let in and see nothing. */
function roleFaults(given: Given): string[] {
  const prefix = given['CAUDAL_DATABASE_ROLE_PREFIX'] ?? 'caudal';
  return ROLE_KINDS.flatMap((kind) => {
    const setting = `DATABASE_${kind.toUpperCase()}_URL`;
    const url = given[setting];
    if (url === undefined || !URL.canParse(url)) return [];
    const login = decodeURIComponent(new URL(url).username);
    return login === roleNames(prefix)[kind]
      ? []
      : [
          `${setting} logs in as "${login}": the role is named ${roleNames(prefix)[kind]} (CAUDAL_DATABASE_ROLE_PREFIX)`,
        ];
  });
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
  if (given['CAUDAL_WEBHOOKS_ALLOW_LOOPBACK'] === 'yes')
    faults.push('CAUDAL_WEBHOOKS_ALLOW_LOOPBACK is for development: production refuses it');
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
  const roles = roleNames(settings.CAUDAL_DATABASE_ROLE_PREFIX);
  const roleUrl = (address: string | undefined, kind: RoleKind) =>
    address ??
    derivedUrl(
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
    operatorName: settings.CAUDAL_OPERATOR_NAME,
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
    breb: {
      url: settings.BREB_URL,
      clientId: settings.BREB_CLIENT_ID,
      clientSecret: settings.BREB_CLIENT_SECRET,
      keyPrefix: settings.BREB_KEY_PREFIX,
      payerDocument: settings.BREB_PAYER_DOCUMENT,
      network: settings.BREB_NETWORK,
      networkId: settings.BREB_NETWORK_ID,
      rejectsDuplicateOrders: settings.BREB_REJECTS_DUPLICATE_ORDERS === 'yes',
      maxProcessingMs: settings.BREB_MAX_PROCESSING_MS,
    },
    pse: {
      url: settings.PSE_URL,
      entity: settings.PSE_ENTITY,
      secret: settings.PSE_SECRET,
      maxProcessingMs: settings.PSE_MAX_PROCESSING_MS,
    },
    noticeSecrets: {
      BRE_B: shared(settings.BREB_NOTICE_SECRET, settings.BREB_NOTICE_SECRET_PREVIOUS),
      PSE: shared(settings.PSE_NOTICE_SECRET, settings.PSE_NOTICE_SECRET_PREVIOUS),
    },
    webhooksToLoopback: settings.CAUDAL_WEBHOOKS_ALLOW_LOOPBACK === 'yes',
    dueEveryMs: settings.CAUDAL_WORKER_POLL_MS,
    workNotifications: settings.CAUDAL_WORK_NOTIFICATIONS === 'yes',
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
