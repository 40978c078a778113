import type { SystemDb } from './system.ts';
import { statement } from './tx.ts';

/** What surrounds the database: its standbys and its WAL archive. Null where the role may not see it. */
export interface DatabaseState {
  /** `server_version_num` */
  readonly serverVersion: number;
  /** Number of the newest applied migration. */
  readonly schemaVersion: number;
  /** Connected standbys that receive WAL; null when the role may not see their state. */
  readonly standbys: { readonly sync: number; readonly async: number } | null;
  readonly connectedStandbys: number;
  /** Whether PostgreSQL waits for a synchronous standby. */
  readonly syncRequired: boolean;
  /** Null when PostgreSQL archives nothing. */
  readonly archive: ArchiveState | null;
}

interface ArchiveState {
  /** Unix seconds; 0 before the first segment. */
  readonly lastSuccess: number;
  /** The newest attempt failed. */
  readonly failing: boolean;
  /** Real time at the database minus the last success, or minus the start of the statistics. */
  readonly ageSeconds: number;
}

// Without pg_read_all_stats PostgreSQL shows a row for each standby, with nulls.
const STATE = statement(
  'database.state',
  `select current_setting('server_version_num')::int as "serverVersion",
     (select max(left(name, 4)::int) from caudal_meta.migrations) as "schemaVersion",
     s.sync, s.async, s.hidden, s.connected,
     current_setting('synchronous_standby_names') <> '' as "syncRequired",
     current_setting('archive_mode') <> 'off' as archives,
     coalesce(extract(epoch from a.last_archived_time), 0)::float8 as "lastSuccess",
     coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false) as failing,
     extract(epoch from clock_timestamp() - coalesce(a.last_archived_time, a.stats_reset))::float8 as "ageSeconds"
   from pg_stat_archiver a, lateral (
     select count(*) filter (where sync_state in ('sync', 'quorum') and state = 'streaming')::int as sync,
       count(*) filter (where sync_state in ('async', 'potential') and state = 'streaming')::int as async,
       count(*) filter (where sync_state is null)::int as hidden, count(*)::int as connected
     from pg_stat_replication) s`,
);

interface Row extends ArchiveState {
  readonly serverVersion: number;
  readonly schemaVersion: number;
  readonly sync: number;
  readonly async: number;
  readonly hidden: number;
  readonly connected: number;
  readonly syncRequired: boolean;
  readonly archives: boolean;
}

export async function readDatabaseState(db: Pick<SystemDb, 'query'>): Promise<DatabaseState> {
  const [row] = await db.query<Row>(STATE);
  if (!row) throw new Error('the database returned no state');
  const { lastSuccess, failing, ageSeconds } = row;
  return {
    serverVersion: row.serverVersion,
    schemaVersion: row.schemaVersion,
    standbys: row.hidden > 0 ? null : { sync: row.sync, async: row.async },
    connectedStandbys: row.connected,
    syncRequired: row.syncRequired,
    archive: row.archives ? { lastSuccess, failing, ageSeconds } : null,
  };
}
