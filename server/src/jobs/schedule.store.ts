import { statement, type Tx } from '../db/tx.ts';

// Reads pg-boss's table directly: pg-boss has no call for the last success of each queue, and its own polling runs one
// update statement per queue.
const LAST_SUCCESSES = statement(
  'schedule.last-successes',
  `select name, extract(epoch from max(completed_on))::float8 as at
   from caudal_jobs.job where state = 'completed' group by name`,
);

const DUE_QUEUES = statement(
  'schedule.due-queues',
  `select distinct name from caudal_jobs.job where state < 'active' and start_after <= now()`,
);

/** Lists queues with a due run. */
export async function dueQueues(tx: Pick<Tx, 'query'>): Promise<string[]> {
  return (await tx.query<{ name: string }>(DUE_QUEUES)).map(({ name }) => name);
}

/** Time of the last successful run per schedule, in Unix seconds of real time. */
export async function lastSuccesses(tx: Pick<Tx, 'query'>): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; at: number }>(LAST_SUCCESSES);
  return new Map(rows.map(({ name, at }) => [name, at]));
}
