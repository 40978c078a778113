import { statement, type Tx } from '../db/tx.ts';

// The one place that reads pg-boss's table instead of asking pg-boss: it has no call for the newest success of each queue.
const LAST_SUCCESSES = statement(
  'schedule.last-successes',
  `select name, extract(epoch from max(completed_on))::float8 as at
   from caudal_jobs.job where state = 'completed' group by name`,
);

/** When each schedule last ran well, in seconds of real time. */
export async function lastSuccesses(tx: Pick<Tx, 'query'>): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; at: number }>(LAST_SUCCESSES);
  return new Map(rows.map(({ name, at }) => [name, at]));
}
