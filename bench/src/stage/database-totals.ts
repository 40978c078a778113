import type { Stage } from './stage.ts';

/** Cumulative write counters of the database. */
export interface Totals {
  readonly commits: number;
  readonly walBytes: number;
  readonly diskBytes: number;
  readonly payins: number;
}

export async function totals(stage: Stage): Promise<Totals> {
  // Backends report their counters to the statistics shortly after a transaction.
  const [row] = await stage.query<{ commits: string; wal: string; disk: string; payins: string }>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal, pg_database_size(current_database()) as disk,
       (select count(*) from caudal.payins) as payins`,
  );
  return {
    commits: Number(row?.commits),
    walBytes: Number(row?.wal),
    diskBytes: Number(row?.disk),
    payins: Number(row?.payins),
  };
}
