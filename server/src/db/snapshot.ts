import { toReadError } from './failures.ts';
import type { RolePool } from './pool.ts';
import type { Tx } from './tx.ts';

/** Reading the whole database takes minutes; other statements have seconds. */
export const SNAPSHOT_DEADLINE_MS = 1_800_000;

/**
 * A consistent snapshot of the whole database, for checks that compare tables. The planner may choose any join and scan:
 * the index-only settings of other sessions (db/pool.ts) are too slow for reading everything.
 */
export interface SnapshotDb {
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

const BEGIN = [
  'begin isolation level repeatable read read only',
  'set local enable_seqscan = on',
  'set local enable_hashjoin = on',
  'set local enable_mergejoin = on',
  "set local work_mem = '64MB'",
].join('; ');

export function snapshotDb(pool: RolePool): SnapshotDb {
  return {
    read: (work) =>
      pool.transaction(BEGIN, work).catch((error: unknown) => Promise.reject(toReadError(error))),
  };
}
