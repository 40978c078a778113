import type { Config } from './config.ts';
import { RolePool } from './db/pool.ts';
import { SNAPSHOT_DEADLINE_MS, snapshotDb } from './db/snapshot.ts';
import { systemDb } from './db/system.ts';
import { batchDb, readDb } from './db/tenant.ts';
import type { Deps, SystemDeps } from './deps.ts';
import { BusinessClock } from './kit/clock.ts';
import { Cursors } from './kit/cursor.ts';
import { armFailpoint } from './kit/failpoint.ts';
import type { Log } from './kit/log.ts';
import { Metrics } from './kit/metrics.ts';
import { SealedTokens } from './kit/sealed-token.ts';
import { Authority } from './organizations/authority.ts';
import { Brakes } from './organizations/brakes.ts';
import { DataKeys } from './organizations/data-keys.ts';
import { Heartbeat } from './organizations/heartbeat.ts';
import { BrebConnector } from './rails/breb/connector.ts';
import { probeBreb } from './rails/breb/probe.ts';
import { RAILS, type Rail, type RailProbe } from './rails/contract.ts';
import { PseConnector } from './rails/pse/connector.ts';
import { probePse } from './rails/pse/probe.ts';
import { withFailpoints, withPayFailpoints } from './rails/with-failpoints.ts';

/** Shorter than the time after which a stale clock stops the process from answering. */
const HEARTBEAT_DEADLINE_MS = 900;

interface Composed {
  readonly deps: SystemDeps;
  /** The same without the system pool and the secrets: all that routes of merchants are given. */
  readonly merchantDeps: Deps;
  readonly authority: Authority;
  readonly heartbeat: Heartbeat;
  readonly keys: DataKeys;
  /** Ends what `compose` began; call it last. */
  readonly close: () => Promise<void>;
}

/** Builds what every role works with. Nothing connects yet but on first use. */
export function compose(config: Config, log: Log): Composed {
  if (config.failpoint !== null) armFailpoint(config.failpoint);
  const { database } = config;
  const pool = (
    role: 'read' | 'batch' | 'system',
    url: string,
    connections: number,
    deadlineMs = database.deadlineMs,
  ) => new RolePool({ role, url, connections, deadlineMs, log });
  const read = pool('read', database.readUrl, database.readConnections);
  // Lanes for payins and for payouts, one for recording, and a few for cancellations and lookups.
  const batch = pool('batch', database.batchUrl, 2 * database.batchLanes + 4);
  // A worker's loops, each with one transaction at a time, and what the API needs of it.
  const system = pool('system', database.systemUrl, 15);
  // A pulse must not wait behind work.
  const pulse = pool('system', database.systemUrl, 2, HEARTBEAT_DEADLINE_MS);
  const snapshot = pool('system', database.systemUrl, 1, SNAPSHOT_DEADLINE_MS);
  const breb = new BrebConnector(config.breb);
  const pse = new PseConnector(config.pse);
  const clock = new BusinessClock();
  const brakes = new Brakes();
  const metrics = new Metrics();
  metrics.gauge(
    'caudal_clock_age_seconds',
    'Time since the database was last heard; above one the process answers 503.',
    () => clock.ageMs / 1000,
  );
  metrics.gauge(
    'caudal_rail_pauses',
    'Pauses of a rail that this process knows of, for one organization or for all.',
    () => new Map(RAILS.map((rail) => [`{rail="${rail}"}`, brakes.count(rail)])),
  );

  const merchantDeps: Deps = {
    environment: config.environment,
    cell: config.cell,
    baseUrl: config.baseUrl,
    checkoutUrl: config.checkoutUrl,
    clock,
    log,
    metrics,
    read: readDb(read),
    batch: batchDb(batch),
    batchLanes: database.batchLanes,
    rails: { BRE_B: withFailpoints(breb), PSE: withFailpoints(pse) },
    payoutRail: withPayFailpoints(breb),
    brakes,
    brebKeyPrefix: config.breb.keyPrefix,
    qrNetwork: { network: config.breb.network, networkId: config.breb.networkId },
    cursors: new Cursors(config.tokenKey),
    checkoutTokens: new SealedTokens(config.tokenKey, 'checkout'),
    linkTokens: new SealedTokens(config.tokenKey, 'payment link'),
    receiptTokens: new SealedTokens(config.tokenKey, 'receipt'),
    webhooksToLoopback: config.webhooksToLoopback,
    settlementDelayMinutes: config.settlementDelayMinutes,
  };
  const deps: SystemDeps = {
    ...merchantDeps,
    system: systemDb(system),
    snapshot: snapshotDb(snapshot),
    masterKeys: config.masterKeys,
    peppers: config.peppers,
  };
  const authority = new Authority({
    db: deps.system,
    clock,
    environment: config.environment,
    peppers: config.peppers,
    masterKeys: config.masterKeys,
  });
  const heartbeat = new Heartbeat({ db: systemDb(pulse), clock, authority, brakes, log });
  return {
    deps,
    merchantDeps,
    authority,
    heartbeat,
    keys: new DataKeys(deps.system, config.masterKeys),
    close: async () => {
      await Promise.all([breb.disconnect(), pse.disconnect()]);
      await Promise.all([read.close(), batch.close(), system.close(), pulse.close(), snapshot.close()]);
    },
  };
}

/** Whether each rail is there and knows us, by one harmless question; needs no database. */
export function railProbes(
  config: Config,
): Readonly<Record<Rail, (signal: AbortSignal) => Promise<RailProbe>>> {
  return {
    BRE_B: (signal) => probeBreb(config.breb, signal),
    PSE: (signal) => probePse(config.pse, signal),
  };
}
