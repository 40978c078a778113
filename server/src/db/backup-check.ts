import { queryRecord } from './records.ts';
import { statement, type Tx } from './tx.ts';

type Db = Pick<Tx, 'query'>;

const ARCHIVING = statement(
  'backup-check.archiving',
  `select current_setting('archive_mode') as mode, current_setting('archive_timeout') <> '0' as has_timeout,
     last_archived_time, last_failed_time,
     coalesce(last_failed_time > last_archived_time, last_failed_time is not null) as failing,
     last_failed_wal from pg_stat_archiver`,
);

/** The state of WAL archiving, as PostgreSQL reports it. */
export interface Archiving {
  readonly mode: string;
  /** Segments are also archived while little is written. */
  readonly hasTimeout: boolean;
  readonly lastArchivedTime: Date | null;
  readonly lastFailedTime: Date | null;
  /** The last attempt failed. */
  readonly failing: boolean;
  readonly lastFailedWal: string | null;
}

export async function readArchiving(db: Db): Promise<Archiving> {
  const archiving = await queryRecord<Archiving>(db, ARCHIVING);
  if (!archiving) throw new Error('PostgreSQL returned no archiver statistics');
  return archiving;
}

const RECORD = statement(
  'backup-check.record',
  `insert into caudal.backup_check (checked_at, last_backup_at, failures) values (clock_timestamp(), $1, $2)
   on conflict (only_row) do update set checked_at = excluded.checked_at,
     last_backup_at = coalesce(excluded.last_backup_at, caudal.backup_check.last_backup_at), failures = excluded.failures`,
);

export async function recordBackupCheck(tx: Tx, lastBackupAt: Date | null, failures: number): Promise<void> {
  await tx.query(RECORD, [lastBackupAt, failures]);
}

const READ = statement(
  'backup-check.read',
  `select extract(epoch from checked_at)::float8 as checked_at_seconds, failures,
     extract(epoch from clock_timestamp() - last_backup_at)::float8 as age_seconds from caudal.backup_check`,
);

export interface BackupCheck {
  readonly checkedAtSeconds: number;
  readonly failures: number;
  /** Null when no backup is known. */
  readonly ageSeconds: number | null;
}

/** The last check; null before the first. */
export function readBackupCheck(db: Db): Promise<BackupCheck | null> {
  return queryRecord(db, READ);
}
