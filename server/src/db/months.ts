import type { SystemDb } from './system.ts';
import { type Statement, statement, type Tx } from './tx.ts';

const MONTHS = statement('months.ready', 'select caudal.months_ready() as ready');

export async function nextMonthExists(db: SystemDb): Promise<boolean> {
  const [row] = await db.query<{ ready: boolean }>(MONTHS);
  return row?.ready ?? false;
}

const MAKE_MONTHS = statement(
  'months.make',
  "select caudal.make_months(caudal.now() + interval '3 months') as made",
);

/** Months are made three ahead. @returns how many were missing */
export async function makeMonths(db: SystemDb): Promise<number> {
  const [row] = await db.query<{ made: number }>(MAKE_MONTHS);
  return row?.made ?? 0;
}

/** A month of a table that may leave. */
export interface LeavingMonth {
  readonly table: string;
  /** `202601` */
  readonly month: string;
  /** It was being detached when something ended that: it is out of sight already. */
  readonly pending: boolean;
}

const LEAVING = statement(
  'months.leaving',
  // Events first: whoever could still make a delivery of one no longer finds it.
  `select t.name as "table", right(c.relname, 6) as month, i.inhdetachpending as pending
   from caudal.monthly_tables t join pg_catalog.pg_inherits i on i.inhparent = to_regclass(format('caudal.%I', t.name))
   join pg_catalog.pg_class c on c.oid = i.inhrelid
   where t.leaves and right(c.relname, 6) < $1 order by 2, t.name <> 'events', t.name`,
);

/** Attached months before this one that may leave, in the order in which they should. */
export function leavingMonths(tx: Pick<Tx, 'query'>, before: string): Promise<LeavingMonth[]> {
  return tx.query<LeavingMonth>(LEAVING, [before]);
}

const AGE = statement(
  'months.kept-from',
  `select to_char((date_trunc('month', caudal.now(), 'UTC') - make_interval(months => $1)) at time zone 'UTC', 'YYYYMM') as month`,
);

/** The oldest month that is kept in any case. */
export async function keptFrom(tx: Pick<Tx, 'query'>, months: number): Promise<string> {
  const [row] = await tx.query<{ month: string }>(AGE, [months]);
  if (!row) throw new Error('the database gave no time');
  return row.month;
}

/** The ids of a month, both included. */
export interface IdSpan {
  readonly first: string;
  readonly last: string;
}

/** For statements that `countWithin` asks. */
export const WITHIN = 'between $1::uuid and $2::uuid';

export async function countWithin(tx: Tx, counting: Statement, { first, last }: IdSpan): Promise<number> {
  const [row] = await tx.query<{ count: number }>(counting, [first, last]);
  return row?.count ?? 0;
}
