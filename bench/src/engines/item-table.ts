import { Client, type Pool } from 'pg';
import { makeItem } from './engine.ts';

const TABLES = `
create table items (id uuid primary key, data jsonb not null, step integer not null default 0, due_at timestamptz,
  leased_until timestamptz, lease_token uuid);
create index items_due on items (due_at) where due_at is not null;
create table outbox (item_id uuid primary key, data jsonb not null)`;

/** An item with its due work and its outbox row, for a set of any size. */
const INSERT = `with given as (select id, data from unnest($1::uuid[], $2::jsonb[]) as i (id, data)),
event as (insert into outbox (item_id, data) select id, data from given)
insert into items (id, data, due_at) select id, data, now() from given`;

export const UNFINISHED_ITEMS = 'select count(*)::int as count from items where due_at is not null';

export async function createItemTables(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(TABLES);
  await client.end();
}

/** One statement, one commit. */
export function insertItems(pool: Pool, ids: readonly string[]): Promise<unknown> {
  const data = ids.map((id) => JSON.stringify(makeItem(id)));
  return pool.query({ name: 'insert items', text: INSERT, values: [ids, data] });
}
