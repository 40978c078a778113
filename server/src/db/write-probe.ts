import { isDatabaseError } from './failures.ts';
import type { SystemDb } from './system.ts';
import { statement } from './tx.ts';

/** A backend that waits for its standby for longer than this is not merely slow. */
const SLOW_STANDBY_SECONDS = 3;

export type WriteProbe =
  | { readonly kind: 'written' }
  /** Other commits of the same role already wait for the standby: a further one would only take another backend. */
  | { readonly kind: 'standby_missing'; readonly count: number }
  | { readonly kind: 'failed'; readonly sqlState: string | null; readonly cause: string };

const WAITING = statement(
  'probe.waiting',
  `select count(*)::int as count from pg_stat_activity
   where datname = current_database() and usename = current_user and wait_event = 'SyncRep'
     and state_change < clock_timestamp() - make_interval(secs => $1)`,
);

/** Skips the row while another process's probe has locked it: the result of that probe is enough. */
const WRITE = statement(
  'probe.write',
  `with disk as materialized (select caudal.probe_disk() as written)
   update caudal.write_probe p set written_at = clock_timestamp() from disk
   where disk.written > 0 and p.id = (select id from caudal.write_probe for update skip locked)`,
);

/**
 * Tries a harmless write: a file on the database's volume, then a committed row. A full data disk refuses the file, a
 * missing synchronous standby holds up the commit, a read-only server refuses the row.
 */
export async function probeWrite(db: Pick<SystemDb, 'query'>): Promise<WriteProbe> {
  try {
    const [waiting] = await db.query<{ count: number }>(WAITING, [SLOW_STANDBY_SECONDS]);
    if (waiting && waiting.count > 0) return { kind: 'standby_missing', count: waiting.count };
    await db.query(WRITE);
    return { kind: 'written' };
  } catch (error) {
    return { kind: 'failed', sqlState: sqlStateOf(error), cause: causeOf(error) };
  }
}

function sqlStateOf(error: unknown): string | null {
  return isDatabaseError(error) ? (error.code ?? null) : null;
}

/** PostgreSQL's message is safe to show here: the probe writes no data of anyone. */
function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
