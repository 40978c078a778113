import { statement, type Tx } from './tx.ts';

export type PoolRole = 'read' | 'batch' | 'system';

export interface ActiveBackends {
  /** Changes when PostgreSQL restarts or another server takes over. */
  readonly serverStartedAt: string;
  readonly pids: readonly number[];
}

const ACTIVE = statement(
  'commits.active',
  `select pg_postmaster_start_time()::text as server_started_at,
     array(
       select pid from pg_stat_activity
       where datname = current_database() and usename = current_user and pid = any ($1::int[]) and state = 'active'
     ) as pids`,
);

/**
 * Returns the backends that are executing a statement. An idle backend has finished, even if its client has disconnected
 * and the connection stays half-open for hours.
 * @param db logs in as the backends' own role: PostgreSQL hides the state of other roles' backends
 */
export async function activeBackends(
  db: Pick<Tx, 'query'>,
  pids: readonly number[],
): Promise<ActiveBackends> {
  const [row] = await db.query<{ server_started_at: string; pids: number[] }>(ACTIVE, [pids]);
  return { serverStartedAt: row?.server_started_at ?? '', pids: row?.pids ?? [] };
}
