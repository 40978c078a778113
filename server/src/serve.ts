import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Components, closeComponents, createComponents } from './components.ts';
import { type Composed, compose } from './compose.ts';
import type { Config } from './config.ts';
import { awaitDatabase } from './db/await-database.ts';
import { connectionBudget } from './db/connection-budget.ts';
import { failedLogins } from './db/login.ts';
import type { PendingCommits } from './db/pending-commits.ts';
import { findDatabaseProblems } from './db/startup-checks.ts';
import type { Deps } from './deps.ts';
import { watchDatabase } from './flows/operations/watch-database.system.ts';
import { BankList } from './flows/payins/read-banks.ts';
import { PaymentExpediter } from './flows/payment-links/expedite-payment.ts';
import { ResolutionRefresher } from './flows/payouts/refresh-key-resolutions.system.ts';
import { ReceiptFinder } from './flows/receipts/find-receipt.system.ts';
import { ReceiptEmailSender } from './flows/receipts/send-receipt-emails.system.ts';
import { issueToken } from './flows/shared/issue-token.system.ts';
import { OPERATIONS } from './http/api/operations.ts';
import { buildApp } from './http/app.ts';
import { Gate } from './http/gate.ts';
import { InvalidCredentials } from './http/invalid-credentials.ts';
import { isMerchantOperation } from './http/operation.ts';
import { buildOps } from './http/ops/server.ts';
import type { NoticeEndpoint } from './http/rail-notices/rail-notices.route.ts';
import { WorkListener, WorkNotifier } from './jobs/work-notifications.ts';
import { addressFormatter } from './kit/address-log.ts';
import { VERSION } from './kit/build.ts';
import { monotonicMs } from './kit/clock.ts';
import { deriveKey, type SecretKey } from './kit/crypto.ts';
import { deadline } from './kit/deadline.ts';
import { freshBytes } from './kit/ids.ts';
import type { Log } from './kit/log.ts';
import { watchProcess } from './kit/process-metrics.ts';
import type { Authenticator } from './organizations/authenticator.ts';
import { Logos } from './organizations/logos.ts';
import { Shops } from './organizations/shops.ts';
import { brebNotice } from './rails/breb/translate.ts';
import { pseNotice } from './rails/pse/translate.ts';
import { Readiness, type UnreadyReason, watchReadiness } from './readiness.ts';
import { Mailer } from './receipts/mailer.ts';
import type { Telemetry } from './tracing/telemetry.ts';
import { createWorker, workerSchedules } from './workers/worker.ts';

/** Timeout of the logins with which a readiness check finds out why the database is unavailable. */
const LOGIN_WITHIN_MS = 1000;

export interface Running {
  /** Null for a worker, which serves no requests. */
  readonly port: number | null;
  readonly opsPort: number;
  /** In order: stops accepting requests, answers active ones, finishes work, closes connections. */
  readonly stop: () => Promise<void>;
}

/** Starts the API, the worker, or both in one process. Throws when the startup checks of the database fail. */
export async function serve(role: 'api' | 'worker' | 'all', config: Config, log: Log): Promise<Running> {
  const telemetry = await loadTelemetry(role, config, log);
  const composed = compose(config, log, role, telemetry?.tracer);
  telemetry?.observe(composed.deps.metrics);
  await checkDatabase(composed, config, log);
  const { deps, heartbeat } = composed;
  const components = createComponents(composed, config);
  const workers = role === 'api' ? null : createWorkers(role, composed, components, config);
  const app = role === 'worker' ? null : createApi(composed, components, config);
  const closeSignals = connectSignals(role, config, deps);
  watchDatabase(deps);
  let stopping = false;
  const readiness = createReadiness(composed, config);
  const unready = async (): Promise<readonly UnreadyReason[]> =>
    stopping ? [{ code: 'shutting_down', message: 'shutting down' }] : readiness.reasons();
  watchProcess(deps.metrics);
  watchReadiness(deps.metrics, unready);
  const ops = buildOps({ metrics: deps.metrics, unready });
  workers?.start();
  await ops.listen({ host: config.ops.host, port: config.ops.port });
  await app?.listen({ host: config.http.host, port: config.http.port });
  return {
    port: app ? getPort(app) : null,
    opsPort: getPort(ops),
    stop: async () => {
      stopping = true;
      // Load balancers see 503 from /readyz before connections are rejected. A worker serves no requests.
      if (app) await sleep(config.drainMs);
      components.streams.close();
      components.watch.close();
      if (app) await closeApp(app);
      await workers?.stop();
      await closeComponents(components);
      await closeSignals();
      await heartbeat.stop();
      await composed.close();
      await telemetry?.close();
      await ops.close();
    },
  };
}

/** Imports the OpenTelemetry SDK only if a collector is configured. */
async function loadTelemetry(
  role: 'api' | 'worker' | 'all',
  { telemetry, cell }: Config,
  log: Log,
): Promise<Telemetry | null> {
  if (telemetry === null) return null;
  const { startTelemetry } = await import('./tracing/telemetry.ts');
  const resource = {
    'service.version': VERSION,
    'service.instance.id': freshBytes(16).toString('hex'),
    'host.name': hostname(),
    'caudal.role': role,
    'caudal.cell': String(cell),
    ...telemetry.resource,
  };
  return startTelemetry({ ...telemetry, resource }, log);
}

/** Waits for a starting database and starts the heartbeat. @throws when the database does not fit this version */
async function checkDatabase({ deps, heartbeat, close }: Composed, config: Config, log: Log): Promise<void> {
  try {
    await awaitDatabase(loginUrls(config), log, config.database.startWaitMs);
    const problems = await findDatabaseProblems(deps.system, config, loginUrls(config));
    if (problems.length > 0) throw new Error(problems.join('; '));
    await heartbeat.start();
  } catch (error) {
    await heartbeat.stop();
    await close();
    throw error;
  }
}

/** The worker loops and the schedules. */
function createWorkers(
  role: 'worker' | 'all',
  { deps, keys }: Composed,
  components: Components,
  { database, workerPollMs, mail }: Config,
) {
  const schedules = workerSchedules(deps, database.systemUrl, connectionBudget(role, database).schedules);
  const worker = createWorker(deps, {
    ...components,
    resolutionRefresher: new ResolutionRefresher(deps, keys),
    receiptEmails: new ReceiptEmailSender({
      deps,
      keys,
      shops: new Shops(deps.system, keys, monotonicMs),
      mailer: mail && new Mailer(mail),
    }),
    keys,
    workerPollMs,
  });
  return {
    start: () => {
      worker.start();
      schedules.start();
    },
    stop: () => Promise.all([worker.stop(), schedules.stop()]),
  };
}

function createApi(composed: Composed, components: Components, config: Config): FastifyInstance {
  const { deps, merchantDeps, authenticator, keyNetworks, pendingCommits, keys } = composed;
  const { payins, payouts, links, lookups, notices, streams, watch, collectionStarter } = components;
  const shops = new Shops(deps.system, keys, monotonicMs);
  if (config.environment === 'production' && config.trustedProxies === null)
    deps.log.warn(
      { code: 'trusted_proxies_not_set' },
      'CAUDAL_TRUSTED_PROXIES is not set: behind a proxy all payers share one address and its limits; set it, or none without a proxy',
    );
  return buildApp({
    ...merchantDeps,
    authenticator,
    keyNetworks,
    gate: createGate(config, merchantDeps, authenticator, pendingCommits),
    invalidCredentials: new InvalidCredentials(deps.log),
    payins,
    payouts,
    links,
    lookups,
    notices,
    streams,
    checkout: {
      collectionStarter,
      watch,
      shops,
      logos: new Logos(deps.system),
      expediter: new PaymentExpediter(merchantDeps),
      sendsEmail: config.offersEmail,
    },
    noticeEndpoints: noticeEndpoints(config),
    operator: config.operator,
    trustedProxies: config.trustedProxies ?? [],
    formatAddress: addressFormatter(config.logClientAddress, addressKey(config)),
    banks: new BankList(merchantDeps),
    receiptFinder: new ReceiptFinder(merchantDeps, deps.system, shops),
    issueToken: (principal, scopes) => issueToken(deps, principal, scopes),
  });
}

/** Hashes of addresses in the log must not be computable with the key under which credentials are stored. */
function addressKey({ peppers: [pepper] }: Config): SecretKey {
  if (!pepper) throw new Error('no pepper is configured');
  return deriveKey(pepper, 'log/client-address');
}

function createReadiness({ deps, pendingCommits, loginFailed }: Composed, config: Config): Readiness {
  return new Readiness({
    deps,
    pendingCommits,
    loginFailed,
    failedLogins: () => failedLogins(loginUrls(config), deadline(LOGIN_WITHIN_MS), 'caudal-readiness'),
  });
}

/**
 * Processes exchange work signals with NOTIFY: an API process sends them, a process with worker loops receives them.
 * @returns closes the connection
 */
function connectSignals(
  role: 'api' | 'worker' | 'all',
  { database, workNotifications }: Config,
  { signals, failures }: Deps,
): () => Promise<void> {
  if (!workNotifications) return () => Promise.resolve();
  const options = { url: database.systemUrl, failures };
  if (role === 'api') {
    const notifier = new WorkNotifier(options);
    signals.subscribe((kind) => notifier.send(kind));
    return () => notifier.close();
  }
  const listener = new WorkListener({ ...options, onSignal: (kind) => signals.raise(kind) });
  listener.start();
  return () => listener.close();
}

/** The system URL comes last: the login check requires the others to connect to the same database. */
function loginUrls({ database }: Config): string[] {
  return [database.readUrl, database.batchUrl, database.systemUrl];
}

function createGate(
  { limits }: Config,
  { baseUrl, metrics, log }: Deps,
  authenticator: Authenticator,
  pendingCommits: PendingCommits,
): Gate {
  return new Gate({
    authenticator,
    readOnlyPaths: new Set(OPERATIONS.filter(({ readOnly }) => readOnly).map(({ path }) => path)),
    merchantPaths: OPERATIONS.filter(isMerchantOperation).map(({ path }) => path),
    baseUrl,
    metrics,
    log,
    perSecond: { write: limits.writesPerSecond, read: limits.readsPerSecond },
    maxConcurrentRequests: limits.maxConcurrentRequests,
    writesSuspended: () => pendingCommits.full,
  });
}

function noticeEndpoints({ noticeSecrets }: Config): NoticeEndpoint[] {
  return [
    { path: '/rail-notices/breb', rail: 'BRE_B', secrets: noticeSecrets.BRE_B, read: brebNotice },
    { path: '/rail-notices/pse', rail: 'PSE', secrets: noticeSecrets.PSE, read: pseNotice },
  ];
}

/** A connection with an active request becomes idle only after `close` started, and Fastify would not close it then. */
async function closeApp(app: FastifyInstance): Promise<void> {
  const closeIdle = setInterval(() => app.server.closeIdleConnections(), 50);
  await app.close();
  clearInterval(closeIdle);
}

function getPort(app: FastifyInstance): number {
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}
