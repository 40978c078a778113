import { deadline } from '../kit/deadline.ts';
import type { Log } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import { activeBackends } from './active-backends.ts';
import { connectionBudget, type ProcessRole } from './connection-budget.ts';
import { PendingCommits } from './pending-commits.ts';
import { type PoolOptions, RolePool } from './pool.ts';
import { type PoolName, poolTimes, watchPools } from './pool-metrics.ts';
import { SNAPSHOT_DEADLINE_MS } from './snapshot.ts';

/** Shorter than the time requests wait for a late heartbeat, so that a second connection can be tried. */
const HEARTBEAT_DEADLINE_MS = 1200;

type PoolSettings = Parameters<typeof connectionBudget>[1] & {
  readonly readUrl: string;
  readonly batchUrl: string;
  readonly systemUrl: string;
  readonly deadlineMs: number;
  readonly maxPendingCommits: number;
};

interface PoolParts extends Pick<PoolOptions, 'failures' | 'onStateChanges'> {
  readonly log: Log;
  readonly metrics: Metrics;
}

export type Pools = ReturnType<typeof createPools>;

/** The connection pools of one process. Connections open on first use. */
export function createPools(
  settings: PoolSettings,
  processRole: ProcessRole,
  { failures, log, metrics, onStateChanges }: PoolParts,
) {
  const pendingCommits = new PendingCommits({
    limit: settings.maxPendingCommits,
    activeBackends: (role, pids) => activeBackends({ read, batch, system }[role], pids),
    log,
  });
  const times = poolTimes(metrics);
  const pool = (name: PoolName, url: string, connections: number, deadlineMs = settings.deadlineMs) =>
    new RolePool({
      role: name === 'read' || name === 'batch' ? name : 'system',
      url,
      connections,
      deadlineMs,
      failures,
      pendingCommits,
      times: times(name),
      ...(onStateChanges ? { onStateChanges } : {}),
    });
  const budget = connectionBudget(processRole, settings);
  const read = pool('read', settings.readUrl, budget.read);
  const batch = pool('batch', settings.batchUrl, budget.batch);
  const system = pool('system', settings.systemUrl, budget.system);
  // The heartbeat has its own pool, so that it never waits behind other work.
  const heartbeat = pool('heartbeat', settings.systemUrl, budget.heartbeat, deadline(HEARTBEAT_DEADLINE_MS));
  // At least one connection: node-postgres never serves a query from a pool of size 0. An API process sends it none.
  const snapshot = pool('snapshot', settings.systemUrl, Math.max(1, budget.snapshot), SNAPSHOT_DEADLINE_MS);
  watchPools(metrics, { read, batch, system, heartbeat, snapshot });
  const all = [read, batch, system, heartbeat, snapshot];
  return {
    read,
    batch,
    system,
    heartbeat,
    snapshot,
    pendingCommits,
    /** Whether the last attempt of any pool to get a connection failed. */
    loginFailed: () => all.some((each) => each.loginFailed),
    stopWatching: () => pendingCommits.close(),
    close: async () => {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}
