import { deriveBytes, keyFromBytes, keyFromSecret, type SecretKey } from './kit/crypto.ts';
import { type RoleKind, roleNames } from './kit/database-roles.ts';
import { KmsMasterKey } from './kit/kms-master-key.ts';
import { LocalMasterKey, type MasterKey } from './kit/master-key.ts';
import { type Cents, cents } from './kit/money.ts';
import { parseTaxId } from './kit/tax-id.ts';
import { parseKeyIds, parseRetiredKeys } from './receipts/key-settings.ts';
import { resolveMasterKey } from './settings/master-key-source.ts';
import {
  describeIssue,
  findMailProblems,
  findMissingDatabaseUrls,
  findProductionProblems,
  findRevokedReceiptKey,
  findTestDeadlineProblems,
  findUnknownSettings,
  findWrongLogins,
  TEST_DEADLINE_FACTOR,
} from './settings/problems.ts';
import { receiptKey } from './settings/receipt-key.ts';
import { completeForRole } from './settings/role-settings.ts';
import { isConsequence, resolveSecretFiles } from './settings/secret-files.ts';
import { type RawSettings, type Role, type Settings, schema } from './settings/settings.ts';
import { parsePairs } from './settings/telemetry-settings.ts';
import { type AllTlsFiles, readAllTlsFiles } from './settings/tls-files.ts';

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

/** Unvalidated settings as text, with secrets from files, for checks of weak secrets. Contains secrets. */
export function rawSettings(environment: RawSettings = process.env): RawSettings {
  return resolveSecretFiles(withoutEmpty(environment)).raw;
}

/** An empty variable is the same as none. */
function withoutEmpty(environment: RawSettings): RawSettings {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** Author of operator commands from CAUDAL_BY; null when it is not set. Works when other settings are missing. */
export function authorFromSettings(environment: RawSettings = process.env): string | null {
  return withoutEmpty(environment)['CAUDAL_BY'] ?? null;
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

/**
 * @param needs secrets that this process needs beyond those of its role
 * @throws ConfigError
 */
export function readConfig(
  role: Role,
  environment: RawSettings = process.env,
  needs: readonly string[] = [],
): Config {
  const files = resolveSecretFiles(withoutEmpty(environment));
  const { raw, problems: masterKeyProblems } = resolveMasterKey(files.raw);
  const completed = completeForRole(role, raw, needs);
  const parsed = schema.safeParse(completed);
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => describeIssue(issue, raw));
  problems.push(...masterKeyProblems);
  problems.push(...findMissingDatabaseUrls(role, raw), ...findWrongLogins(raw), ...findUnknownSettings(raw));
  problems.push(...findTestDeadlineProblems(raw));
  if (parsed.success) problems.push(...findRevokedReceiptKey(parsed.data));
  const tls = readAllTlsFiles(role, raw);
  problems.push(...findMailProblems(role, raw), ...tls.problems);
  if (raw['CAUDAL_ENV'] === 'production') problems.push(...findProductionProblems(completed));
  const reported = [
    ...files.problems,
    ...problems.filter((problem) => !isConsequence(problem, files.failed)),
  ];
  if (reported.length > 0 || !parsed.success) throw new ConfigError(reported);
  return toConfig(parsed.data, tls, Number(raw[TEST_DEADLINE_FACTOR] ?? 1));
}

function toConfig(settings: Settings, tls: AllTlsFiles, testDeadlineFactor: number) {
  const derivedKeys = (...secrets: (string | undefined)[]) =>
    secrets.filter((value) => value !== undefined).map(keyFromSecret);
  // The rail uses the bytes of the secret directly as the HMAC key.
  const rawKeys = (...secrets: (string | undefined)[]) =>
    secrets.filter((value) => value !== undefined).map((value) => keyFromBytes(Buffer.from(value)));
  const localKeys = derivedKeys(settings.CAUDAL_MASTER_KEY, settings.CAUDAL_MASTER_KEY_PREVIOUS).map(
    (key) => new LocalMasterKey(key),
  );
  const masterKeys: readonly MasterKey[] = [...kmsKeys(settings), ...localKeys];
  const peppers = derivedKeys(settings.CAUDAL_KEY_PEPPER, settings.CAUDAL_KEY_PEPPER_PREVIOUS);
  const roles = roleNames(settings.CAUDAL_DATABASE_ROLE_PREFIX);
  const roleUrl = (url: string | undefined, kind: RoleKind) =>
    url ??
    deriveRoleUrl(
      settings.DATABASE_URL ?? '',
      roles[kind],
      keyFromSecret(settings.CAUDAL_MASTER_KEY_PREVIOUS ?? settings.CAUDAL_MASTER_KEY ?? ''),
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
    /** Null: not set, so it is unknown whether there is a proxy. */
    trustedProxies: parseTrustedProxies(settings.CAUDAL_TRUSTED_PROXIES),
    logLevel: settings.CAUDAL_LOG_LEVEL,
    logClientAddress: settings.CAUDAL_LOG_CLIENT_ADDRESS,
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
    legalRetentionYears: settings.CAUDAL_LEGAL_RETENTION_YEARS,
    /** The current one, and others that wrapped keys before. */
    masterKeys,
    peppers,
    tokenKeys: [
      keyFromSecret(settings.CAUDAL_TOKEN_KEY),
      ...derivedKeys(settings.CAUDAL_TOKEN_KEY_PREVIOUS),
    ] as const,
    receiptKeys: {
      current: receiptKey(settings.CAUDAL_RECEIPT_KEY),
      retired: parseRetiredKeys(settings.CAUDAL_RECEIPT_KEYS_RETIRED) ?? [],
      revokedIds: parseKeyIds(settings.CAUDAL_RECEIPT_KEYS_REVOKED) ?? [],
    },
    /** Whether pages offer e-mail: an API process knows the sender, not the SMTP server. */
    offersEmail: settings.CAUDAL_MAIL_FROM !== undefined,
    /** Null: this process sends no e-mail. */
    mail:
      settings.CAUDAL_SMTP_URL !== undefined && settings.CAUDAL_MAIL_FROM !== undefined
        ? {
            url: settings.CAUDAL_SMTP_URL,
            from: settings.CAUDAL_MAIL_FROM,
            requireTls: settings.CAUDAL_ENV === 'production',
            tls: tls.smtp,
          }
        : null,
    breb: {
      url: settings.BREB_URL,
      clientId: settings.BREB_CLIENT_ID,
      clientSecret: settings.BREB_CLIENT_SECRET,
      tls: tls.breb,
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
      tls: tls.pse,
      allowsHttpPages: settings.CAUDAL_ENV !== 'production',
      maxProcessingMs: settings.PSE_MAX_PROCESSING_MS,
    },
    /** Keys with which the rails sign their notices: the current one, and the previous one during a rotation. */
    noticeSecrets: {
      BRE_B: rawKeys(settings.BREB_NOTICE_SECRET, settings.BREB_NOTICE_SECRET_PREVIOUS),
      PSE: rawKeys(settings.PSE_NOTICE_SECRET, settings.PSE_NOTICE_SECRET_PREVIOUS),
    },
    certificates: tls.certificates,
    webhooksAllowLoopback: settings.CAUDAL_WEBHOOKS_ALLOW_LOOPBACK === 'yes',
    workerPollMs: settings.CAUDAL_WORKER_POLL_MS,
    /** Whether processes send work signals with NOTIFY. */
    workNotifications: settings.CAUDAL_WORK_NOTIFICATIONS === 'yes',
    failpoint: settings.CAUDAL_FAILPOINT ?? null,
    testDeadlineFactor,
    /** Null: nothing is exported. */
    telemetry: toTelemetry(settings),
  };
}

function toTelemetry(settings: Settings) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER: sampler } = settings;
  if (endpoint === undefined) return null;
  const ratios = { always_on: 1, always_off: 0, traceidratio: settings.OTEL_TRACES_SAMPLER_ARG };
  const followsCaller = sampler.startsWith('parentbased_');
  const ratio = ratios[sampler.replace('parentbased_', '') as keyof typeof ratios];
  return {
    collector: {
      endpoint,
      headers: parsePairs(settings.OTEL_EXPORTER_OTLP_HEADERS ?? '') ?? {},
      timeoutMs: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    },
    sampling: settings.OTEL_TRACES_EXPORTER === 'none' ? null : { ratio, followsCaller },
    metricsEveryMs: settings.OTEL_METRICS_EXPORTER === 'none' ? null : settings.OTEL_METRIC_EXPORT_INTERVAL,
    resource: {
      'service.name': settings.OTEL_SERVICE_NAME,
      'deployment.environment.name': settings.CAUDAL_ENV,
      ...parsePairs(settings.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    },
  };
}

function parseTrustedProxies(text: string): readonly string[] | null {
  if (text.trim() === '') return null;
  return text.trim() === 'none' ? [] : text.split(',').flatMap((each) => each.trim() || []);
}

/** Empty without a key management service. */
function kmsKeys({ CAUDAL_KMS_URL: url, CAUDAL_KMS_KEY_ID: keyId, CAUDAL_KMS_TOKEN: token }: Settings) {
  return url !== undefined && keyId !== undefined && token !== undefined
    ? [new KmsMasterKey({ url, keyId, token })]
    : [];
}

function pesosToCents(pesos: number): Cents {
  return cents(BigInt(pesos) * 100n);
}

/** Builds the URL of a login role from the owner URL; its password is derived from the master key. */
function deriveRoleUrl(ownerUrl: string, role: string, masterKey: SecretKey): string {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = deriveBytes(masterKey, `database/${role}`).toString('base64url');
  return url.href;
}
