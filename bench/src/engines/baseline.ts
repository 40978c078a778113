import type { Pool } from 'pg';
import type { EngineDriver } from './engine.ts';
import { createItemTables, insertItems, openPool, UNFINISHED_ITEMS } from './item-table.ts';

const STEP = `update items set step = $2, due_at = case when $2 < 2 then now() end where id = $1`;

/** No engine: one statement and one commit per creation and per step, by a client that already knows the item. */
export const baseline: EngineDriver = {
  unfinished: UNFINISHED_ITEMS,
  install: createItemTables,
  open: async (databaseUrl, done) => {
    const pool = openPool(databaseUrl);
    return {
      create: async (id) => {
        await insertItems(pool, [id]);
        if (done) void runSteps(pool, id, done);
      },
      createSet: (ids) => insertItems(pool, ids),
      close: () => pool.end(),
    };
  },
};

async function runSteps(pool: Pool, id: string, done: (id: string) => void): Promise<void> {
  for (const step of [1, 2]) await pool.query({ name: 'step', text: STEP, values: [id, step] });
  done(id);
}
