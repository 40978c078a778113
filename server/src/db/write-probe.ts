import { isDatabaseError } from './failures.ts';
import type { SystemDb } from './system.ts';
import { statement } from './tx.ts';

/** A backend that waits longer than this for its standby is treated as stuck, not slow. */
const SLOW_STANDBY_SECONDS = 3;

export type WriteProbe =
  | { readonly kind: 'written' }
  /** Other commits of the same role already wait for the standby: another write would only block one more backend. */
  | { readonly kind: 'standby_missing'; readonly count: number }
  | { readonly kind: 'failed'; readonly sqlState: string | null; readonly cause: string };

const WAITING = statement(
  'probe.waiting',
  `select count(*)::int as count from pg_stat_activity
   where datname = current_database() and usename = current_user and wait_event = 'SyncRep'
     and state_change < clock_timestamp() - make_interval(secs => $1)`,
);

/** Skips the row while another process's probe holds its lock: the result of that probe is enough. */
const WRITE = statement(
  'probe.write',
  `with disk as materialized (select caudal.probe_disk() as written)
   update caudal.write_probe p set written_at = clock_timestamp() from disk
   where disk.written > 0 and p.id = (select id from caudal.write_probe for update skip locked)`,
);

/**
 * Performs a harmless write: a file on the database volume, then a committed row. A full disk fails the file, a missing
 * synchronous standby blocks the commit, and a read-only server rejects the row.
 */
export async function probeWrite(db: Pick<SystemDb, 'query'>): Promise<WriteProbe> {
  try {
    const [waiting] = await db.query<{ count: number }>(WAITING, [SLOW_STANDBY_SECONDS]);
    if (waiting && waiting.count > 0) return { kind: 'standby_missing', count: waiting.count };
    await db.query(WRITE);
    return { kind: 'written' };
  } catch (error) {
    return { kind: 'failed', sqlState: getSqlState(error), cause: getMessage(error) };
  }
}

function getSqlState(error: unknown): string | null {
  return isDatabaseError(error) ? (error.code ?? null) : null;
}

/** PostgreSQL's message is safe to show: the probe writes no merchant data. */
function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
