import type { Config } from './config.ts';
import type { ProcessRole } from './db/connection-budget.ts';
import { FailureLog } from './db/failure-log.ts';
import { createPools, type Pools } from './db/pools.ts';
import { snapshotDb } from './db/snapshot.ts';
import { type SystemDb, systemDb } from './db/system.ts';
import { batchDb, readDb } from './db/tenant.ts';
import type { Statement } from './db/tx.ts';
import type { Deps, SystemDeps } from './deps.ts';
import { observeStateChanges } from './flows/operations/observe-state-changes.ts';
import { recordKeyNetworks } from './flows/operations/record-key-networks.system.ts';
import { WorkSignals } from './jobs/work-signals.ts';
import { BusinessClock } from './kit/clock.ts';
import { Cursors } from './kit/cursor.ts';
import { multiplyDeadlines } from './kit/deadline.ts';
import { EncryptedTokens } from './kit/encrypted-token.ts';
import { armFailpoint } from './kit/failpoint.ts';
import type { Log } from './kit/log.ts';
import { Metrics } from './kit/metrics.ts';
import { NO_TRACER, type Tracer } from './kit/tracer.ts';
import { Authenticator } from './organizations/authenticator.ts';
import { DataKeys } from './organizations/data-keys.ts';
import { Heartbeat } from './organizations/heartbeat.ts';
import { KeyNetworks } from './organizations/key-networks.ts';
import { RailPauses } from './organizations/rail-pauses.ts';
import { confirmTimeline, insertContinuityMark, pauseSending } from './organizations/sending-guard.store.ts';
import { SendingGuard } from './organizations/sending-guard.ts';
import { BrebConnector } from './rails/breb/connector.ts';
import { probeBreb } from './rails/breb/probe.ts';
import { RailCallTimes } from './rails/call-times.ts';
import type { PayoutConnector, RailConnector } from './rails/contract.ts';
import { RAILS, type Rail, type RailProbe } from './rails/contract.ts';
import { PseConnector } from './rails/pse/connector.ts';
import { probePse } from './rails/pse/probe.ts';
import { withFailpoints, withPayoutFailpoints } from './rails/with-failpoints.ts';
import { withPayoutSpans, withSpans } from './rails/with-spans.ts';
import { ReceiptKeys } from './receipts/receipt-keys.ts';

export type Composed = ReturnType<typeof compose>;

/** Creates the dependencies shared by all process roles. Connections open on first use. */
export function compose(
  config: Config,
  log: Log,
  processRole: ProcessRole = 'operator',
  tracer: Tracer = NO_TRACER,
) {
  if (config.failpoint !== null) armFailpoint(config.failpoint);
  multiplyDeadlines(config.testDeadlineFactor);
  const failures = new FailureLog(log);
  const metrics = new Metrics();
  const pools = createPools(config.database, processRole, {
    failures,
    log,
    metrics,
    onStateChanges: observeStateChanges(metrics, log),
  });
  const breb = new BrebConnector(config.breb);
  const pse = new PseConnector(config.pse);
  const sendingGuard = createSendingGuard(systemDb(pools.system), log);
  const merchantDeps = createMerchantDeps(config, {
    log,
    failures,
    metrics,
    tracer,
    pools,
    breb,
    pse,
    sendingGuard,
  });
  const { clock, railPauses } = merchantDeps;
  registerGauges(merchantDeps, pools);
  registerCertificates(merchantDeps, config);
  const system = systemDb(pools.system);
  const deps: SystemDeps = {
    ...merchantDeps,
    system,
    results: system,
    snapshot: snapshotDb(pools.snapshot),
    masterKeys: config.masterKeys,
    peppers: config.peppers,
  };
  const keys = new DataKeys(deps.system, config.masterKeys);
  const authenticator = new Authenticator({
    db: deps.system,
    clock,
    environment: config.environment,
    peppers: config.peppers,
    keys,
  });
  const keyNetworks = new KeyNetworks((uses) => recordKeyNetworks(deps, keys, uses));
  const heartbeat = new Heartbeat({
    db: reportingSuccess(systemDb(pools.heartbeat), failures),
    clock,
    authenticator,
    keys,
    railPauses,
    sendingGuard,
    keyNetworks,
    log,
  });
  return {
    deps,
    /** The same without the system pool and the secrets, for merchant routes. */
    merchantDeps,
    authenticator,
    heartbeat,
    keyNetworks,
    pendingCommits: pools.pendingCommits,
    loginFailed: pools.loginFailed,
    keys,
    /** Closes all pools and rail connections; call it last. */
    close: async () => {
      pools.stopWatching();
      await Promise.all([breb.disconnect(), pse.disconnect()]);
      await pools.close();
    },
  };
}

interface Parts extends Pick<Deps, 'log' | 'failures' | 'metrics' | 'tracer'> {
  readonly pools: Pools;
  readonly breb: RailConnector & PayoutConnector;
  readonly pse: RailConnector;
  readonly sendingGuard: SendingGuard;
}

function createSendingGuard(system: SystemDb, log: Log): SendingGuard {
  const pause = (reason: string) => pauseSending(system, 'caudal', reason);
  return new SendingGuard(
    {
      confirm: (mark) => confirmTimeline(system, mark),
      pause,
      insertMark: () => insertContinuityMark(system),
    },
    log,
  );
}

function createMerchantDeps(
  config: Config,
  { log, failures, metrics, tracer, pools, breb, pse, sendingGuard }: Parts,
): Deps {
  const calls = new RailCallTimes(metrics);
  return {
    environment: config.environment,
    cell: config.cell,
    baseUrl: config.baseUrl,
    checkoutUrl: config.checkoutUrl,
    clock: new BusinessClock(),
    log,
    failures,
    signals: new WorkSignals(),
    metrics,
    tracer,
    read: readDb(pools.read),
    batch: batchDb(pools.batch),
    batchLanes: config.database.batchLanes,
    rails: {
      BRE_B: calls.observe('breb', withSpans(withFailpoints(breb), tracer)),
      PSE: calls.observe('pse', withSpans(withFailpoints(pse), tracer)),
    },
    payoutRail: calls.observePayouts('breb', withPayoutSpans(withPayoutFailpoints(breb), tracer)),
    railPauses: new RailPauses(sendingGuard),
    sendingGuard,
    brebKeyPrefix: config.breb.keyPrefix,
    brebReceiverName: config.breb.receiverName,
    qrNetwork: { network: config.breb.network, networkId: config.breb.networkId },
    cursors: new Cursors(config.tokenKeys),
    checkoutTokens: new EncryptedTokens(config.tokenKeys, 'checkout'),
    linkTokens: new EncryptedTokens(config.tokenKeys, 'payment link'),
    receiptTokens: new EncryptedTokens(config.tokenKeys, 'receipt'),
    receiptKeys: new ReceiptKeys(config.receiptKeys),
    webhooksAllowLoopback: config.webhooksAllowLoopback,
    settlementDelayMinutes: config.settlementDelayMinutes,
    legalRetentionYears: config.legalRetentionYears,
  };
}

function registerGauges({ metrics, clock, railPauses, sendingGuard }: Deps, { pendingCommits }: Pools): void {
  metrics.gauge(
    'caudal_clock_age_seconds',
    'Time since the last successful heartbeat; above one second, requests wait for a new one and get 503 if it fails.',
    () => clock.ageMs / 1000,
  );
  metrics.gauge(
    'caudal_id_clock_lead_seconds',
    'How far ids run ahead of business time; above zero after the database clock stepped back.',
    () => clock.idLeadMs / 1000,
  );
  metrics.gauge(
    'caudal_database_pending_commits',
    'Unanswered commits that PostgreSQL is still executing; at the limit, writes are rejected.',
    () => pendingCommits.count,
  );
  metrics.gauge(
    'caudal_rail_pauses',
    'Active pauses of a rail known to this process, for one organization or for all.',
    () => RAILS.map((rail) => ({ labels: { rail }, value: railPauses.count(rail) })),
  );
  metrics.gauge(
    'caudal_sending_paused_after_restore',
    '1 while nothing is sent, because the database may be a restored one.',
    () => (sendingGuard.held ? 1 : 0),
  );
}

function registerCertificates({ metrics }: Deps, { certificates }: Config): void {
  if (certificates.length === 0) return;
  metrics.gauge(
    'caudal_tls_certificate_expiry_timestamp_seconds',
    'When the first certificate in the file of this setting expires, in seconds since 1970.',
    () =>
      certificates.map(({ setting, expiresAt }) => ({
        labels: { setting },
        value: expiresAt.getTime() / 1000,
      })),
  );
}

/** Every process runs the heartbeat query regularly, so its success ends a database incident in the log. */
function reportingSuccess(db: SystemDb, failures: FailureLog): SystemDb {
  return {
    ...db,
    query: async <Row extends object>(statement: Statement, values?: readonly unknown[]) => {
      const rows = await db.query<Row>(statement, values);
      failures.succeeded('heartbeat');
      return rows;
    },
  };
}

/** Probes that check with one harmless request whether a rail is reachable and accepts our credentials. No database. */
export function railProbes(
  config: Config,
): Readonly<Record<Rail, (signal: AbortSignal) => Promise<RailProbe>>> {
  return {
    BRE_B: (signal) => probeBreb(config.breb, signal),
    PSE: (signal) => probePse(config.pse, signal),
  };
}
