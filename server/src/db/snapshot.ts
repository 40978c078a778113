import { readFailure } from './failures.ts';
import type { RolePool } from './pool.ts';
import type { Tx } from './tx.ts';

/** Reading all there is takes minutes on a large database, where other statements have seconds. */
export const SNAPSHOT_DEADLINE_MS = 1_800_000;

/**
 * The whole database as it was at one moment, for checks that compare its tables with each other. Joins are as the
 * planner likes them: row by row, as sessions of ours are set (db/pool.ts), is the wrong way to read everything.
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
      pool.transaction(BEGIN, work).catch((error: unknown) => Promise.reject(readFailure(error))),
  };
}
