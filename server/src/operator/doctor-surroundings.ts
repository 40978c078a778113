import { type DatabaseState, readDatabaseState } from '../db/database-state.ts';
import type { SystemDb } from '../db/system.ts';
import { counted, duration, type Finding, ok, skip, warn } from './finding.ts';

/** A segment is archived when it is full, or after archive_timeout; most deployments set a few minutes at most. */
const ARCHIVE_LATE_SECONDS = 3600;

/**
 * What stops no process but an operator should know: standbys and the WAL archive.
 * @param production elsewhere, a database without them is normal
 */
export async function examineSurroundings(db: SystemDb, production: boolean): Promise<Finding[]> {
  const state = await readDatabaseState(db);
  return [standbyFinding(state, production), archiveFinding(state, production)];
}

function standbyFinding(
  { standbys, connectedStandbys, syncRequired }: DatabaseState,
  production: boolean,
): Finding {
  if (standbys === null)
    return skip(
      'standby',
      `${counted(connectedStandbys, 'standby', 'standbys')} connected; their state is visible to members of pg_read_all_stats only`,
    );
  const { sync, async } = standbys;
  const text = `${sync} synchronous and ${async} asynchronous`;
  if (syncRequired && sync === 0)
    return warn(
      'standby',
      `synchronous_standby_names is set, but no synchronous standby is connected (${text}): commits wait`,
      'start the standby, or remove it from synchronous_standby_names',
    );
  if (sync + async === 0 && !production) return ok('standby', 'no standby is connected');
  if (sync + async === 0)
    return warn(
      'standby',
      'no standby is connected: the loss of this host loses the payments since the last backup',
      'add a synchronous standby, or accept it',
    );
  return syncRequired
    ? ok('standby', `standbys: ${text}`)
    : warn(
        'standby',
        `standbys: ${text}; none is waited for, so a failover can lose acknowledged payments`,
        'set synchronous_standby_names',
      );
}

function archiveFinding({ archive }: DatabaseState, production: boolean): Finding {
  if (archive === null && !production) return ok('archive', 'archive_mode is off');
  if (archive === null)
    return warn(
      'archive',
      'archive_mode is off: there is no point-in-time recovery',
      'archive the WAL, unless your provider backs up in another way',
    );
  const age = archive.lastSuccess === 0 ? 'none yet' : `the last ${duration(archive.ageSeconds)} ago`;
  if (archive.failing)
    return warn(
      'archive',
      `the last attempt to archive a WAL segment failed (archived: ${age})`,
      'check archive_command and the PostgreSQL log; unarchived WAL fills the disk',
    );
  return archive.ageSeconds > ARCHIVE_LATE_SECONDS
    ? warn('archive', `WAL segments archived: ${age}`, 'set archive_timeout, or check archive_command')
    : ok('archive', `WAL segments archived: ${age}`);
}
