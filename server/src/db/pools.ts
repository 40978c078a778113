import type { Log } from '../kit/log.ts';
import { activeBackends, type PoolRole } from './active-backends.ts';
import { connectionBudget, type ProcessRole } from './connection-budget.ts';
import type { FailureLog } from './failure-log.ts';
import { PendingCommits } from './pending-commits.ts';
import { RolePool } from './pool.ts';
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

export type Pools = ReturnType<typeof createPools>;

/** The connection pools of one process. Connections open on first use. */
export function createPools(
  settings: PoolSettings,
  processRole: ProcessRole,
  failures: FailureLog,
  log: Log,
) {
  const pendingCommits = new PendingCommits({
    limit: settings.maxPendingCommits,
    activeBackends: (role, pids) => activeBackends({ read, batch, system }[role], pids),
    log,
  });
  const pool = (role: PoolRole, url: string, connections: number, deadlineMs = settings.deadlineMs) =>
    new RolePool({ role, url, connections, deadlineMs, failures, pendingCommits });
  const budget = connectionBudget(processRole, settings);
  const read = pool('read', settings.readUrl, budget.read);
  const batch = pool('batch', settings.batchUrl, budget.batch);
  const system = pool('system', settings.systemUrl, budget.system);
  // The heartbeat has its own pool, so that it never waits behind other work.
  const heartbeat = pool('system', settings.systemUrl, budget.heartbeat, HEARTBEAT_DEADLINE_MS);
  // At least one connection: node-postgres never serves a query from a pool of size 0. An API process sends it none.
  const snapshot = pool('system', settings.systemUrl, Math.max(1, budget.snapshot), SNAPSHOT_DEADLINE_MS);
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
