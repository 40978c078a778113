import type { Stack } from '../stack/stack.ts';
import type { Sinks } from './sinks.ts';

/** Summary of deliveries, from the database and the sinks. */
export async function webhookCounts(stack: Stack, sinks: Sinks): Promise<string[]> {
  const [row] = await stack.query<
    Record<'events' | 'deliveries' | 'delivered' | 'attempts' | 'retried', number>
  >(
    `select (select count(*) from caudal.events)::int as events, count(*)::int as deliveries,
       count(*) filter (where status = 'DELIVERED')::int as delivered, coalesce(sum(attempts), 0)::int as attempts,
       count(*) filter (where attempts > 1)::int as retried
     from caudal.webhook_deliveries`,
  );
  const { lines, duplicates, injected } = await sinks.stats();
  const faults = Object.values(injected).reduce((sum, times) => sum + times, 0);
  const kinds = Object.entries(injected).map(([fault, times]) => `${times} ${fault}`);
  return [
    `${row?.events} events, ${row?.deliveries} deliveries, ${row?.delivered} delivered in ${row?.attempts} attempts, ${row?.retried} retried`,
    `${lines} requests received by sinks, ${duplicates} duplicates of acknowledged events`,
    `${faults} sink faults (${kinds.join(', ') || 'none'})`,
  ];
}
