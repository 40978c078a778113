import type { TestDatabase } from '../harness/database.ts';

/**
 * Keeps the cluster's write-ahead log from now on, so that it can be searched: the other tests of the run cause checkpoints,
 * after which PostgreSQL overwrites it.
 * @returns ends it
 */
export async function keepWal(database: TestDatabase): Promise<() => Promise<unknown>> {
  const slot = `keep_${database.name}`;
  await database.query('select pg_create_physical_replication_slot($1, true)', [slot]);
  return () => database.query('select pg_drop_replication_slot($1)', [slot]);
}
