import type { Metrics } from '../kit/metrics.ts';
import type { PoolTimes, RolePool } from './pool.ts';

const POOLS = ['read', 'batch', 'system', 'heartbeat', 'snapshot'] as const;
export type PoolName = (typeof POOLS)[number];

/** Most statements take less than a millisecond; the deadline of the longest ones is 30 minutes. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function poolTimes(metrics: Metrics): (pool: PoolName) => PoolTimes {
  const wait = metrics.histogram(
    'caudal_database_pool_wait_seconds',
    'Time until a pool provided a connection, including the login of a new one, by pool.',
    BUCKETS,
    { pool: POOLS },
  );
  const statement = metrics.histogram(
    'caudal_database_statement_seconds',
    'Duration of statements as seen by this process, including BEGIN and COMMIT, by pool.',
    BUCKETS,
    { pool: POOLS },
  );
  return (pool) => ({ wait: wait.series({ pool }), statement: statement.series({ pool }) });
}

export function watchPools(metrics: Metrics, pools: Readonly<Record<PoolName, RolePool>>): void {
  metrics.gauge(
    'caudal_database_pool_connections',
    'Open database connections of this process, by pool and state (in_use or idle).',
    () =>
      POOLS.flatMap((pool) => {
        const { inUse, idle } = pools[pool].usage;
        return [
          { labels: { pool, state: 'in_use' }, value: inUse },
          { labels: { pool, state: 'idle' }, value: idle },
        ];
      }),
  );
  metrics.gauge('caudal_database_pool_limit', 'Maximum connections of the pool.', () =>
    POOLS.map((pool) => ({ labels: { pool }, value: pools[pool].usage.limit })),
  );
  metrics.gauge('caudal_database_pool_waiting', 'Callers that wait for a connection of the pool.', () =>
    POOLS.map((pool) => ({ labels: { pool }, value: pools[pool].usage.waiting })),
  );
}
