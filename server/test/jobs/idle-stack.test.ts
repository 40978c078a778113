import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../harness/stack.ts';

/** A hundred before loops shared one poll; at rest eight are left, more than half of them heartbeats and schedules. */
const TRANSACTIONS_PER_SECOND = 20;
const MEASURED_SECONDS = 8;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1 });
});
afterAll(() => stack?.stop());

interface Sample {
  readonly transactions: number;
  readonly at: number;
}

/** By the database's own counters, without those of the connection that reads them. */
async function sample(): Promise<Sample> {
  const [row] = await stack.database.query<Sample>(
    `select (xact_commit + xact_rollback)::float8 as transactions, extract(epoch from clock_timestamp())::float8 as at
     from pg_stat_database where datname = current_database()`,
  );
  if (!row) throw new Error('no counters');
  return row;
}

async function rate(seconds: number): Promise<number> {
  const before = await sample();
  await sleep(seconds * 1000);
  const after = await sample();
  return (after.transactions - before.transactions) / (after.at - before.at);
}

describe('an API process and a worker process without requests', () => {
  it('come to rest at fewer than twenty transactions a second', async () => {
    const rates: number[] = [];
    // The start has work of its own: months, schedules, the list of banks.
    while (rates.length < 4 && !(Number(rates.at(-1)) < TRANSACTIONS_PER_SECOND))
      rates.push(await rate(MEASURED_SECONDS));
    expect(rates.at(-1)).toBeLessThan(TRANSACTIONS_PER_SECOND);
  }, 60_000);
});
