import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { awaitDatabase } from './db/await-database.ts';
import { connectionBudget } from './db/connection-budget.ts';
import { failedLogins } from './db/login.ts';
import type { PendingCommits } from './db/pending-commits.ts';
import { findDatabaseProblems } from './db/startup-checks.ts';
import type { Deps } from './deps.ts';
import { PseOpener } from './flows/payins/open-pse-payins.ts';
import { PayinCreator } from './flows/payins/payin-creator.ts';
import { RailStatusPoller } from './flows/payins/poll-rail-status.ts';
import { BankList } from './flows/payins/read-banks.ts';
import { KeyRegistrar } from './flows/payins/register-breb-keys.ts';
import { CollectionStarter } from './flows/payins/start-collection.ts';
import { PaymentExpediter } from './flows/payment-links/expedite-payment.ts';
import { LinkCreator } from './flows/payment-links/link-creator.ts';
import { CheckoutWatch } from './flows/payment-links/watch-checkouts.ts';
import { KeyLookups } from './flows/payouts/look-up-key.ts';
import { PayoutCreator } from './flows/payouts/payout-creator.ts';
import { PayoutStatusPoller } from './flows/payouts/poll-payout-status.ts';
import { ResolutionRefresher } from './flows/payouts/refresh-key-resolutions.ts';
import { PayoutSender } from './flows/payouts/send-payouts.ts';
import { issueToken } from './flows/shared/issue-token.ts';
import { NoticeIntake } from './flows/shared/store-notices.ts';
import { WebhookDeliverer } from './flows/webhooks/deliver-webhooks.ts';
import { EventStreams } from './flows/webhooks/follow-events.ts';
import { buildApp } from './http/app.ts';
import { Gate } from './http/gate.ts';
import { buildOps } from './http/ops/server.ts';
import type { NoticeEndpoint } from './http/rail-notices/rail-notices.route.ts';
import { WorkListener, WorkNotifier } from './jobs/work-notifications.ts';
import { monotonicMs } from './kit/clock.ts';
import { watchEventLoop } from './kit/event-loop-delay.ts';
import type { Log } from './kit/log.ts';
import type { Authenticator } from './organizations/authenticator.ts';
import { Shops } from './organizations/shops.ts';
import { brebNotice } from './rails/breb/translate.ts';
import { pseNotice } from './rails/pse/translate.ts';
import { Readiness } from './readiness.ts';
import { isLoopbackAddress, isPublicAddress } from './webhooks/sending/public-address.ts';
import { WebhookSender } from './webhooks/sending/webhook-sender.ts';
import { createWorker, workerSchedules } from './workers/worker.ts';

/** Timeout of the logins with which a readiness check finds out why the database is unavailable. */
const LOGIN_WITHIN_MS = 1000;

export interface Running {
  /** Null for a worker, which serves no requests. */
  readonly port: number | null;
  readonly opsPort: number;
  /** In order: stops accepting requests, answers active ones, finishes work, closes connections. */
  stop(): Promise<void>;
}

/** Starts the API, the worker, or both in one process. Throws when the startup checks of the database fail. */
export async function serve(role: 'api' | 'worker' | 'all', config: Config, log: Log): Promise<Running> {
  const { deps, merchantDeps, authenticator, heartbeat, pendingCommits, loginFailed, keys, close } = compose(
    config,
    log,
    role,
  );
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
  const registrar = new KeyRegistrar(deps, keys);
  const pse = new PseOpener(merchantDeps);
  const statusPollers = {
    BRE_B: new RailStatusPoller(deps, keys, 'BRE_B'),
    PSE: new RailStatusPoller(deps, keys, 'PSE'),
  };
  const sender = new PayoutSender(deps, keys);
  const payoutPoller = new PayoutStatusPoller(deps, keys);
  const lookups = new KeyLookups(merchantDeps);
  const deliverer = new WebhookDeliverer(deps, keys, createWebhookSender(config));
  deps.metrics.gauge(
    'caudal_rail_circuit_open',
    '1 while the circuit breaker blocks calls to the rail.',
    () =>
      new Map([
        ['{rail="BRE_B",operation="open"}', Number(registrar.circuitOpen)],
        ['{rail="PSE",operation="open"}', Number(pse.circuitOpen)],
        ['{rail="BRE_B",operation="poll"}', Number(statusPollers.BRE_B.circuitOpen)],
        ['{rail="PSE",operation="poll"}', Number(statusPollers.PSE.circuitOpen)],
        ['{rail="BRE_B",operation="pay"}', Number(sender.circuitOpen)],
        ['{rail="BRE_B",operation="poll payouts"}', Number(payoutPoller.circuitOpen)],
        ['{rail="BRE_B",operation="resolve"}', Number(lookups.circuitOpen)],
      ]),
  );
  const collectionStarter = new CollectionStarter(pse, (order, leaseToken) =>
    registrar.enqueue(order, leaseToken),
  );
  const payins = new PayinCreator(merchantDeps, pse, collectionStarter);
  const payouts = new PayoutCreator(merchantDeps);
  const links = new LinkCreator(merchantDeps);
  const notices = new NoticeIntake(deps, keys);
  const streams = new EventStreams(merchantDeps);
  const watch = new CheckoutWatch(deps);
  const schedules =
    role === 'api'
      ? null
      : workerSchedules(deps, config.database.systemUrl, connectionBudget(role, config.database).schedules);
  const worker =
    role === 'api'
      ? null
      : createWorker(deps, {
          registrar,
          pse,
          statusPollers,
          sender,
          resolutionRefresher: new ResolutionRefresher(deps, keys),
          payoutPoller,
          deliverer,
          keys,
          workerPollMs: config.workerPollMs,
        });
  const closeSignals = connectSignals(role, config, deps);
  watchEventLoop(deps.metrics);
  let stopping = false;
  const readiness = new Readiness({
    deps,
    pendingCommits,
    loginFailed,
    failedLogins: () => failedLogins(loginUrls(config), LOGIN_WITHIN_MS, 'caudal-readiness'),
  });
  const ops = buildOps({
    metrics: deps.metrics,
    unready: async () =>
      stopping ? [{ code: 'shutting_down', message: 'shutting down' }] : readiness.reasons(),
  });
  const app =
    role === 'worker'
      ? null
      : buildApp({
          ...merchantDeps,
          authenticator,
          gate: createGate(config, merchantDeps, authenticator, pendingCommits),
          payins,
          payouts,
          links,
          lookups,
          notices,
          streams,
          checkout: {
            collectionStarter,
            watch,
            shops: new Shops(deps.system, keys, monotonicMs),
            expediter: new PaymentExpediter(merchantDeps),
          },
          noticeEndpoints: noticeEndpoints(config),
          operatorName: config.operatorName,
          trustedProxies: config.trustedProxies,
          banks: new BankList(merchantDeps),
          issueToken: (principal, scopes) => issueToken(deps, principal, scopes),
        });
  worker?.start();
  schedules?.start();
  await ops.listen({ host: config.ops.host, port: config.ops.port });
  await app?.listen({ host: config.http.host, port: config.http.port });
  return {
    port: app ? getPort(app) : null,
    opsPort: getPort(ops),
    stop: async () => {
      stopping = true;
      // Load balancers see 503 from /readyz before connections are rejected. A worker serves no requests.
      if (app) await sleep(config.drainMs);
      streams.close();
      watch.close();
      if (app) await closeApp(app);
      await Promise.all([worker?.stop(), schedules?.stop()]);
      await Promise.all([payins.close(), payouts.close(), links.close(), deliverer.close()]);
      await notices.close();
      await pse.close();
      await registrar.close();
      await closeSignals();
      await heartbeat.stop();
      await close();
      await ops.close();
    },
  };
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
    baseUrl,
    metrics,
    log,
    perSecond: { write: limits.writesPerSecond, read: limits.readsPerSecond },
    maxConcurrentRequests: limits.maxConcurrentRequests,
    writesSuspended: () => pendingCommits.full,
  });
}

/** Sends only to public addresses, unless the deployment allows loopback. */
function createWebhookSender({ webhooksAllowLoopback }: Config): WebhookSender {
  return webhooksAllowLoopback
    ? new WebhookSender({ isAllowed: (address) => isPublicAddress(address) || isLoopbackAddress(address) })
    : new WebhookSender();
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
