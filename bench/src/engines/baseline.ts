import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { CONNECTIONS, type EngineDriver, openPool, type Processing } from './engine.ts';
import { createItemTables, insertItems, UNFINISHED_ITEMS } from './item-table.ts';

const STEP = 'update items set step = $2, due_at = case when $2 < 2 then now() end where id = $1';

const TAKE = `update items set step = 1, due_at = null where id = (
  select id from items where due_at is not null order by due_at limit 1 for update skip locked) returning id`;

/** No engine and no batches: one statement and one commit per creation, per step and per job. */
export const baseline: EngineDriver = {
  unfinished: UNFINISHED_ITEMS,
  install: createItemTables,
  open: async (databaseUrl, processing) => {
    const pool = openPool(databaseUrl);
    const stopping = new AbortController();
    const workers =
      processing?.steps === 1
        ? Array.from({ length: CONNECTIONS }, () => takeItems(pool, processing, stopping.signal))
        : [];
    return {
      create: async (id) => {
        await insertItems(pool, [id]);
        if (processing?.steps === 2) void runSteps(pool, id, processing);
      },
      createSet: (ids) => insertItems(pool, ids),
      close: async () => {
        stopping.abort();
        await Promise.all(workers);
        await pool.end();
      },
    };
  },
};

/** By the client that created the item, which therefore needs no queue. */
async function runSteps(pool: Pool, id: string, { done }: Processing): Promise<void> {
  for (const step of [1, 2]) await pool.query({ name: 'step', text: STEP, values: [id, step] });
  done(id);
}

async function takeItems(pool: Pool, { done }: Processing, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await pool.query<{ id: string }>({ name: 'take', text: TAKE });
    if (rows[0]) done(rows[0].id);
    else await sleep(200, undefined, { signal }).catch(() => undefined);
  }
}
