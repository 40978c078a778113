import type { SystemDb } from './system.ts';
import { type Statement, statement, type Tx } from './tx.ts';

// Ids may run ahead of business time (decision 0035), so a month counts as current some minutes before it begins.
const PREPARED = statement(
  'months.prepared',
  `with ahead as (
     select n, to_char((date_trunc('month', caudal.now() + interval '5 minutes', 'UTC') + make_interval(months => n)) at time zone 'UTC', 'YYYYMM') as month
     from generate_series(0, 12) n
   )
   select coalesce(min(n), 13)::int - 1 as prepared
   from ahead, caudal.monthly_tables t where to_regclass(format('caudal.%I', t.name || '_' || month)) is null`,
);

/**
 * How many months after the current one have their partitions in every monthly table. 0: writes fail when the month ends;
 * -1: writes to some table fail now.
 */
export async function countPreparedMonths(db: Pick<SystemDb, 'query'>): Promise<number> {
  const [row] = await db.query<{ prepared: number }>(PREPARED);
  return row?.prepared ?? -1;
}

const MAKE_MONTHS = statement(
  'months.make',
  "select caudal.make_months(caudal.now() + interval '3 months') as made",
);

/** Creates the partitions of the next three months. @returns the number of partitions created */
export async function createMonthPartitions(db: SystemDb): Promise<number> {
  const [row] = await db.query<{ made: number }>(MAKE_MONTHS);
  return row?.made ?? 0;
}

/** A monthly partition that may be detached. */
export interface DetachableMonth {
  readonly table: string;
  /** `202601` */
  readonly month: string;
  /** A detach was interrupted: the partition is already invisible and must be finalized. */
  readonly pending: boolean;
}

const DETACHABLE = statement(
  'months.detachable',
  // Events first: once an event is detached, no new delivery of it can be created.
  `select t.name as "table", right(c.relname, 6) as month, i.inhdetachpending as pending
   from caudal.monthly_tables t join pg_catalog.pg_inherits i on i.inhparent = to_regclass(format('caudal.%I', t.name))
   join pg_catalog.pg_class c on c.oid = i.inhrelid
   where t.detachable and right(c.relname, 6) < $1 order by 2, t.name <> 'events', t.name`,
);

/** Attached partitions older than `before` that may be detached, in the order in which to detach them. */
export function listDetachableMonths(tx: Pick<Tx, 'query'>, before: string): Promise<DetachableMonth[]> {
  return tx.query<DetachableMonth>(DETACHABLE, [before]);
}

const DETACHED = statement(
  'months.detached',
  `select c.relname::text as name from caudal.monthly_tables t
   join pg_catalog.pg_class c on c.relname ~ ('^' || t.name || '_[0-9]{6}$') and c.relkind = 'r' and not c.relispartition
   join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = 'caudal'
   order by right(c.relname, 6), c.relname`,
);

/** Names of the detached months that have not been dropped, oldest first. */
export async function listDetachedMonths(db: Pick<SystemDb, 'query'>): Promise<string[]> {
  const rows = await db.query<{ name: string }>(DETACHED);
  return rows.map(({ name }) => name);
}

const OLDEST_RETAINED = statement(
  'months.oldest-retained',
  `select to_char((date_trunc('month', caudal.now(), 'UTC') - make_interval(months => $1)) at time zone 'UTC', 'YYYYMM') as month`,
);

/** The oldest month within the retention period, as `YYYYMM`. */
export async function oldestRetainedMonth(tx: Pick<Tx, 'query'>, months: number): Promise<string> {
  const [row] = await tx.query<{ month: string }>(OLDEST_RETAINED, [months]);
  if (!row) throw new Error('the database returned no time');
  return row.month;
}

/** The id range of a month, both ends inclusive. */
export interface IdSpan {
  readonly first: string;
  readonly last: string;
}

/** Condition for the statements that `countWithin` runs. */
export const WITHIN = 'between $1::uuid and $2::uuid';

export async function countWithin(tx: Tx, query: Statement, { first, last }: IdSpan): Promise<number> {
  const [row] = await tx.query<{ count: number }>(query, [first, last]);
  return row?.count ?? 0;
}
