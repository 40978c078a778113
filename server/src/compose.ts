import type { Config } from './config.ts';
import { RolePool } from './db/pool.ts';
import { systemDb } from './db/system.ts';
import { batchDb, readDb } from './db/tenant.ts';
import type { Deps, SystemDeps } from './deps.ts';
import { BusinessClock } from './kit/clock.ts';
import { Cursors } from './kit/cursor.ts';
import type { Log } from './kit/log.ts';
import { Metrics } from './kit/metrics.ts';
import { SealedTokens } from './kit/sealed-token.ts';
import { Authority } from './organizations/authority.ts';
import { DataKeys } from './organizations/data-keys.ts';
import { Heartbeat } from './organizations/heartbeat.ts';
import { BrebConnector } from './rails/breb/connector.ts';
import { PseConnector } from './rails/pse/connector.ts';

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
  const { database } = config;
  const pool = (
    role: 'read' | 'batch' | 'system',
    url: string,
    connections: number,
    deadlineMs = database.deadlineMs,
  ) => new RolePool({ role, url, connections, deadlineMs, log });
  const read = pool('read', database.readUrl, database.readConnections);
  // One lane for recording beside those of creation.
  const batch = pool('batch', database.batchUrl, database.batchLanes + 1);
  const system = pool('system', database.systemUrl, 6);
  // A pulse must not wait behind work.
  const pulse = pool('system', database.systemUrl, 2, HEARTBEAT_DEADLINE_MS);
  const breb = new BrebConnector(config.breb);
  const pse = new PseConnector(config.pse);
  const clock = new BusinessClock();
  const metrics = new Metrics();
  metrics.gauge(
    'caudal_clock_age_seconds',
    'Time since the database was last heard; above one the process answers 503.',
    () => clock.ageMs / 1000,
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
    rails: { BRE_B: breb, PSE: pse },
    brebKeyPrefix: config.breb.keyPrefix,
    qrNetwork: { network: config.breb.network, networkId: config.breb.networkId },
    cursors: new Cursors(config.tokenKey),
    checkoutTokens: new SealedTokens(config.tokenKey, 'checkout'),
  };
  const deps: SystemDeps = {
    ...merchantDeps,
    system: systemDb(system),
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
  const heartbeat = new Heartbeat({ db: systemDb(pulse), clock, authority, log });
  return {
    deps,
    merchantDeps,
    authority,
    heartbeat,
    keys: new DataKeys(deps.system, config.masterKeys),
    close: async () => {
      await Promise.all([breb.disconnect(), pse.disconnect()]);
      await Promise.all([read.close(), batch.close(), system.close(), pulse.close()]);
    },
  };
}
