import type { Sinks } from './sinks.ts';
import type { Stage } from './stage.ts';

/** What was sent, by the database and by the sinks. */
export async function webhookCounts(stage: Stage, sinks: Sinks): Promise<string[]> {
  const [row] = await stage.query<
    Record<'events' | 'deliveries' | 'delivered' | 'attempts' | 'again', number>
  >(
    `select (select count(*) from caudal.events)::int as events, count(*)::int as deliveries,
       count(*) filter (where status = 'DELIVERED')::int as delivered, coalesce(sum(attempts), 0)::int as attempts,
       count(*) filter (where attempts > 1)::int as again
     from caudal.webhook_deliveries`,
  );
  const { lines, duplicates, struck } = await sinks.stats();
  const faults = Object.values(struck).reduce((sum, times) => sum + times, 0);
  const kinds = Object.entries(struck).map(([fault, times]) => `${times} ${fault}`);
  return [
    `${row?.events} events, ${row?.deliveries} deliveries of them, ${row?.delivered} delivered by ${row?.attempts} attempts, ${row?.again} by more than one`,
    `${lines} requests in the sinks' journal, ${duplicates} of them of an event that had been acknowledged`,
    `${faults} faults of sinks (${kinds.join(', ') || 'none'})`,
  ];
}
