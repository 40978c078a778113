import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';

/** Summary of payout outcomes, from the database and the rail. */
export async function payoutCounts(stack: Stack, rails: RailControl): Promise<string[]> {
  const rows = await stack.query<{ status: string; code: string | null; count: number }>(
    'select status, error_code as code, count(*)::int as count from caudal.payouts group by 1, 2 order by 3 desc',
  );
  const sum = (status: string) =>
    rows.filter((row) => row.status === status).reduce((total, { count }) => total + count, 0);
  const codes = rows.flatMap(({ code, count }) => (code === null ? [] : [`${count} ${code}`]));
  const [resent] = await stack.query<{ count: number }>(
    'select count(*)::int as count from caudal.payouts where attempts > 1',
  );
  const anomalies = await stack.query<{ kind: string; count: number }>(
    'select kind, count(*)::int as count from caudal.anomalies group by 1 order by 1',
  );
  const { received, duplicates, executions } = await rails.orders();
  return [
    `${sum('CONFIRMED')} confirmed, ${sum('DECLINED')} declined (${codes.join(', ')}), ${sum('CANCELED')} canceled, ${sum('PROCESSING')} open`,
    `${executions} executions of ${received} orders at the rail, ${duplicates} duplicates rejected by it; ${resent?.count ?? 0} payouts sent more than once`,
    `anomalies: ${anomalies.map(({ kind, count }) => `${count} ${kind}`).join(', ') || 'none'}`,
  ];
}
