import { Client } from 'pg';
import { sessionOptions } from '../../src/db/pool.ts';
import type { Statement, Tx } from '../../src/db/tx.ts';
import { cloneDatabase } from './database.ts';

/** Tables that grow with every payin, payout, lookup or event; one line may tell of a month's partition. */
const GROWING = new RegExp(
  `(?:${[
    'ledger_\\w+?|payins|payin_history|breb_keys|idempotency_keys|resource_references|api_keys|rail_notices|anomalies',
    'events|final_events|payouts|payout_history|payout_attempts|breb_lookups|lookup_buckets|operator_actions',
    'webhook_endpoints|webhook_queues|webhook_deliveries|webhook_attempts|payment_links|payer_authorizations',
  ].join('|')})(?:_\\d{6})?\\b`,
);

export interface Plans {
  /** The lines of the plan of every statement that is used. */
  of(use: (tx: Tx) => Promise<unknown>): Promise<string[]>;
  close(): Promise<void>;
}

/** Plans as prepared statements end up with after a few uses, here on tables that have never held a row. */
export async function openPlans(): Promise<Plans> {
  const database = await cloneDatabase();
  const client = new Client({ connectionString: database.url, options: sessionOptions(5000) });
  await client.connect();
  await client.query('set plan_cache_mode = force_generic_plan');
  return {
    of: async (use) => {
      const plans: string[] = [];
      for (const statement of await statementsOf(use)) plans.push(...(await explained(client, statement)));
      return plans;
    },
    close: async () => {
      await client.end();
      await database.drop();
    },
  };
}

/** Of growing tables. */
export function readWhole(plan: readonly string[]): string[] {
  return plan.filter((line) => line.includes('Seq Scan') && GROWING.test(line));
}

/**
 * A payin is found by organization and id together; by the organization alone it would be all of its payins. Of buckets
 * there is one an organization, of endpoints a few.
 */
export function readByOrganization(plan: readonly string[]): string[] {
  return plan.filter(
    (line, index) =>
      /Index Cond: \(organization_id = [\w.$]+\)$/.test(line.trim()) &&
      !/lookup_buckets_pkey|webhook_endpoints_living/.test(plan[index - 1] ?? ''),
  );
}

/** Stands in for a transaction: keeps the statements it is given instead of running them. */
async function statementsOf(use: (tx: Tx) => Promise<unknown>): Promise<(Statement & { values: number })[]> {
  const kept: (Statement & { values: number })[] = [];
  const recorder = {
    query: (statement: Statement, values: readonly unknown[] = []) => {
      kept.push({ ...statement, values: values.length });
      return Promise.resolve([]);
    },
  } as unknown as Tx;
  await use(recorder).catch(() => undefined);
  if (kept.length === 0) throw new Error('no statement was used');
  return kept;
}

async function explained(
  client: Client,
  { text, values }: Statement & { values: number },
): Promise<string[]> {
  await client.query(`prepare planned as ${text}`);
  try {
    const nulls = Array.from({ length: values }, () => 'null').join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain execute planned${values > 0 ? `(${nulls})` : ''}`,
    );
    return rows.map((row) => row['QUERY PLAN']);
  } finally {
    await client.query('deallocate planned');
  }
}
