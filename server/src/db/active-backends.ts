import type { SystemDb } from './system.ts';
import { statement } from './tx.ts';

export type PoolRole = 'read' | 'batch' | 'system';

export interface ActiveBackends {
  /** Differs after a restart and on another server. */
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
 * Which of these backends are executing a statement. One that is idle has finished, though its client may be gone and its
 * connection stay half-open for hours.
 * @param db of the backends' own role: the state of others is hidden
 */
export async function activeBackends(
  db: Pick<SystemDb, 'query'>,
  pids: readonly number[],
): Promise<ActiveBackends> {
  const [row] = await db.query<{ server_started_at: string; pids: number[] }>(ACTIVE, [pids]);
  return { serverStartedAt: row?.server_started_at ?? '', pids: row?.pids ?? [] };
}
