import { statement, type Tx } from '../db/tx.ts';

// The one place that reads pg-boss's table instead of asking pg-boss: it has no call for the newest success of each queue,
// and its own polls are one statement for each queue, each of them an update.
const LAST_SUCCESSES = statement(
  'schedule.last-successes',
  `select name, extract(epoch from max(completed_on))::float8 as at
   from caudal_jobs.job where state = 'completed' group by name`,
);

const DUE_QUEUES = statement(
  'schedule.due-queues',
  `select distinct name from caudal_jobs.job where state < 'active' and start_after <= now()`,
);

/** Queues in which a run waits for a worker. */
export async function dueQueues(tx: Pick<Tx, 'query'>): Promise<string[]> {
  return (await tx.query<{ name: string }>(DUE_QUEUES)).map(({ name }) => name);
}

/** When each schedule last ran well, in seconds of real time. */
export async function lastSuccesses(tx: Pick<Tx, 'query'>): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; at: number }>(LAST_SUCCESSES);
  return new Map(rows.map(({ name, at }) => [name, at]));
}
