import { Client } from 'pg';
import { sessionOptions } from '../../src/db/pool.ts';
import type { Statement, Tx } from '../../src/db/tx.ts';
import { cloneDatabase } from './database.ts';

/** Tables that grow with every payin, payout, lookup or event; a plan line may name a monthly partition. */
const GROWING_TABLES = new RegExp(
  `(?:${[
    'ledger_\\w+?|payins|payin_history|breb_keys|idempotency_keys|resource_references|api_keys|rail_notices|anomalies',
    'events|final_events|payouts|payout_history|payout_attempts|breb_lookups|lookup_buckets|operator_actions',
    'webhook_endpoints|webhook_queues|webhook_deliveries|webhook_attempts|payment_links|payer_authorizations',
  ].join('|')})(?:_\\d{6})?\\b`,
);

export interface Plans {
  /** Plan lines of every statement that `use` runs. */
  of(use: (tx: Tx) => Promise<unknown>): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Generic plans, which PostgreSQL chooses for prepared statements after a few executions, on empty tables.
 */
export async function openPlans(): Promise<Plans> {
  const database = await cloneDatabase();
  const client = new Client({ connectionString: database.url, options: sessionOptions(5000) });
  await client.connect();
  await client.query('set plan_cache_mode = force_generic_plan');
  return {
    of: async (use) => {
      const plans: string[] = [];
      for (const statement of await recordStatements(use)) plans.push(...(await explain(client, statement)));
      return plans;
    },
    close: async () => {
      await client.end();
      await database.drop();
    },
  };
}

/** Plan lines that scan a growing table sequentially. */
export function sequentialScans(plan: readonly string[]): string[] {
  return plan.filter((line) => line.includes('Seq Scan') && GROWING_TABLES.test(line));
}

/**
 * Plan lines that use only the organization as index condition, which reads all rows of the organization.
 * Exempt: lookup buckets (one per organization) and webhook endpoints (few per organization).
 */
export function organizationScans(plan: readonly string[]): string[] {
  return plan.filter(
    (line, index) =>
      /Index Cond: \(organization_id = [\w.$]+\)$/.test(line.trim()) &&
      !/lookup_buckets_pkey|webhook_endpoints_living/.test(plan[index - 1] ?? ''),
  );
}

/** Runs `use` with a fake transaction that records the statements instead of executing them. */
async function recordStatements(
  use: (tx: Tx) => Promise<unknown>,
): Promise<(Statement & { values: number })[]> {
  const recorded: (Statement & { values: number })[] = [];
  const recorder = {
    query: (statement: Statement, values: readonly unknown[] = []) => {
      recorded.push({ ...statement, values: values.length });
      return Promise.resolve([]);
    },
    report: () => {},
  } as unknown as Tx;
  await use(recorder).catch(() => undefined);
  if (recorded.length === 0) throw new Error('no statement was executed');
  return recorded;
}

async function explain(client: Client, { text, values }: Statement & { values: number }): Promise<string[]> {
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
