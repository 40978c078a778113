import type { SystemDb } from './system.ts';
import { statement } from './tx.ts';

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
