import type { Client } from 'pg';
import type { IndexStatement } from './migration-steps.ts';

const MAX_NAME = 63;

/** Runs statements that must get their locks at once, with a short lock timeout and retries. */
export type Briefly = (work: () => Promise<unknown>) => Promise<void>;

interface Target {
  readonly table: string;
  readonly partitioned: boolean;
}

/**
 * Builds an index without blocking writes: on a partitioned table the parent's index first, which new partitions inherit,
 * then each partition's concurrently, attached one by one; the parent's becomes valid with the last. Can be repeated after
 * it was interrupted at any time.
 */
export async function buildIndex(client: Client, index: IndexStatement, briefly: Briefly): Promise<void> {
  const { table, name, unique, definition } = index;
  const create = `create ${unique ? 'unique ' : ''}index`;
  const { partitioned } = await findTable(client, table);
  if (!partitioned) return buildOne(client, { create, name, table, definition });
  await briefly(() => client.query(`${create} if not exists ${name} on only caudal.${table} ${definition}`));
  for (const partition of await partitionsWithout(client, table, name)) {
    const own = ownName(partition, table, name);
    await buildOne(client, { create, name: own, table: partition, definition });
    await briefly(() => client.query(`alter index caudal.${name} attach partition caudal.${own}`));
  }
}

async function buildOne(
  client: Client,
  { create, name, table, definition }: Record<'create' | 'name' | 'table' | 'definition', string>,
): Promise<void> {
  const { rows } = await client.query<{ valid: boolean }>(
    `select i.indisvalid as valid from pg_index i where i.indexrelid = to_regclass('caudal.${name}')`,
  );
  if (rows[0]?.valid) return;
  // An interrupted build leaves an invalid index.
  if (rows[0]) await client.query(`drop index concurrently caudal.${name}`);
  await client.query(`${create} concurrently ${name} on caudal.${table} ${definition}`);
}

async function findTable(client: Client, table: string): Promise<Target> {
  const { rows } = await client.query<{ kind: string }>(
    `select relkind as kind from pg_class where oid = to_regclass('caudal.${table}')`,
  );
  if (!rows[0]) throw new Error(`there is no table caudal.${table}`);
  return { table, partitioned: rows[0].kind === 'p' };
}

/** Newest first: it is the one in use. */
async function partitionsWithout(client: Client, table: string, index: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname::text as name from pg_inherits p join pg_class c on c.oid = p.inhrelid
     where p.inhparent = 'caudal.${table}'::regclass and not p.inhdetachpending and not exists (
       select from pg_index i join pg_inherits a on a.inhrelid = i.indexrelid
       where i.indrelid = c.oid and a.inhparent = 'caudal.${index}'::regclass)
     order by 1 desc`,
  );
  return rows.map(({ name }) => name);
}

/** `payins_202601_color` for the index `payins_color` */
function ownName(partition: string, table: string, index: string): string {
  const suffix = index.startsWith(`${table}_`) ? index.slice(table.length + 1) : index;
  const name = `${partition}_${suffix}`;
  if (name.length > MAX_NAME) throw new Error(`the index name ${name} is longer than ${MAX_NAME} characters`);
  return name;
}
