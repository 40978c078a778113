import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Batcher } from '../../../server/src/kit/batch/batcher.ts';
import { type EngineDriver, openPool, type Processing } from './engine.ts';
import { createItemTables, insertItems, UNFINISHED_ITEMS } from './item-table.ts';

const MAX_BATCH = 500;
const WORKERS = 2;
const POLL_EVERY_MS = 200;

const LEASE = `update items set lease_token = $1, leased_until = now() + interval '20 seconds' where id in (
  select id from items where due_at <= now() and (leased_until is null or leased_until < now())
  order by due_at limit ${MAX_BATCH} for update skip locked) returning id`;

const RECORD = `update items set step = step + 1, due_at = case when step + 1 < $3 then now() end, leased_until = null,
  lease_token = null where id = any ($2::uuid[]) and lease_token = $1 returning id, step`;

/**
 * Caudal's way on a minimal table: the server's batcher commits the creations that arrived meanwhile, and workers lease
 * due rows in sets. The complete API, with authentication, encryption and all rows of a payin, is measured by P1 and P2.
 */
export const caudal: EngineDriver = {
  unfinished: UNFINISHED_ITEMS,
  install: createItemTables,
  open: async (databaseUrl, processing) => {
    const pool = openPool(databaseUrl);
    const batcher = openBatcher(pool);
    const stopping = new AbortController();
    const workers = processing
      ? Array.from({ length: WORKERS }, () => work(pool, processing, stopping.signal))
      : [];
    return {
      create: (id) => batcher.submit(id),
      createSet: (ids) => Promise.all(ids.map((id) => batcher.submit(id))),
      close: async () => {
        stopping.abort();
        await Promise.all(workers);
        await batcher.close();
        await pool.end();
      },
    };
  },
};

function openBatcher(pool: Pool): Batcher<string, null> {
  return new Batcher({
    run: async (ids) => {
      await insertItems(pool, ids);
      return ids.map(() => null);
    },
    verdict: () => 'internal_error',
    groupOf: () => 'items',
    maxBatch: MAX_BATCH,
    maxQueue: 4096,
    lanes: 2,
  });
}

async function work(pool: Pool, { steps, done }: Processing, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const token = randomUUID();
    const leased = await pool.query<{ id: string }>({ name: 'lease', text: LEASE, values: [token] });
    if (leased.rows.length === 0) {
      await sleep(POLL_EVERY_MS, undefined, { signal }).catch(() => undefined);
      continue;
    }
    const recorded = await pool.query<{ id: string; step: number }>({
      name: 'record',
      text: RECORD,
      values: [token, leased.rows.map(({ id }) => id), steps],
    });
    for (const { id, step } of recorded.rows) if (step === steps) done(id);
  }
}
