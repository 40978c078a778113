import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../harness/stack.ts';

/**
 * It was a hundred before the loops shared one poll; at rest eight are left, mostly heartbeats and schedules.
 */
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

/** The database's own counters, without those of the reading connection. */
async function sample(): Promise<Sample> {
  const [row] = await stack.database.query<Sample>(
    `select (xact_commit + xact_rollback)::float8 as transactions, extract(epoch from clock_timestamp())::float8 as at
     from pg_stat_database where datname = current_database()`,
  );
  if (!row) throw new Error('no counters returned');
  return row;
}

async function rate(seconds: number): Promise<number> {
  const before = await sample();
  await sleep(seconds * 1000);
  const after = await sample();
  return (after.transactions - before.transactions) / (after.at - before.at);
}

describe('an idle API process and an idle worker process', () => {
  it('make fewer than twenty transactions per second', async () => {
    const rates: number[] = [];
    // The start has additional work: months, schedules, the bank list.
    while (rates.length < 4 && !(Number(rates.at(-1)) < TRANSACTIONS_PER_SECOND))
      rates.push(await rate(MEASURED_SECONDS));
    expect(rates.at(-1)).toBeLessThan(TRANSACTIONS_PER_SECOND);
  });
});
