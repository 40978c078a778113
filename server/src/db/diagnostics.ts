import { realTime } from '../kit/clock.ts';
import type { ClockDifference } from '../kit/http-probe.ts';
import { statement, type Tx } from './tx.ts';

type Db = Pick<Tx, 'query'>;

const FACTS = statement(
  'diagnostics.facts',
  `select d.environment, d.cell, extract(epoch from d.time_shift)::float8 as shift_seconds,
     current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
     current_setting('synchronous_commit') as synchronous_commit, current_setting('lc_messages') as lc_messages,
     pg_is_in_recovery() as standby, current_setting('server_version') as version,
     current_setting('server_version_num')::int as version_number,
     current_setting('max_connections')::int as max_connections,
     current_setting('superuser_reserved_connections')::int
       + coalesce(current_setting('reserved_connections', true), '0')::int as reserved_connections,
     (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
     pg_database_size(current_database())::float8 as bytes,
     (select extract(epoch from min(applied_at))::float8 from caudal_meta.migrations) as migrated_at
   from caudal.deployment d`,
);

export interface DatabaseFacts {
  readonly environment: string;
  readonly cell: number;
  /** Offset of business time from real time. */
  readonly shift_seconds: number;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly lc_messages: string;
  readonly standby: boolean;
  readonly version: string;
  readonly version_number: number;
  readonly max_connections: number;
  /** Connections reserved for superusers and roles with pg_use_reserved_connections. */
  readonly reserved_connections: number;
  readonly connections: number;
  readonly bytes: number;
  /** When the first migration was applied, in Unix seconds (real time). */
  readonly migrated_at: number;
}

export async function readDatabaseFacts(db: Db): Promise<DatabaseFacts> {
  const [facts] = await db.query<DatabaseFacts>(FACTS);
  if (!facts) throw new Error('caudal.deployment is empty: run `caudal migrate`');
  return facts;
}

const CLOCK = statement(
  'diagnostics.clock',
  'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
);

/** Measures how far the database clock is ahead of this machine's clock. */
export async function measureDatabaseClock(db: Db): Promise<ClockDifference> {
  // The first query opens a connection, which would add its latency to the measurement.
  await db.query(CLOCK);
  const before = realTime().getTime();
  const [row] = await db.query<{ ms: number }>(CLOCK);
  const after = realTime().getTime();
  return { ms: (row?.ms ?? 0) - (before + after) / 2, withinMs: (after - before) / 2 + 1 };
}

const ROLES = statement(
  'diagnostics.roles',
  `select r.rolname as name,
     array_remove(array[case when r.rolsuper then 'is a superuser' end, case when r.rolbypassrls then 'bypasses row-level security' end,
       case when r.rolcreaterole then 'may create roles' end, case when r.rolcreatedb then 'may create databases' end,
       case when r.rolreplication then 'may replicate' end,
       case when exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'caudal' and c.relowner = r.oid)
         then 'owns tables' end,
       case when exists (select from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid and g.rolname <> 'pg_read_all_stats')
         then 'is a member of another role' end,
       case when r.rolname = any ($1::name[]) and exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = 'caudal' and c.relkind in ('r', 'p') and has_table_privilege(r.oid, c.oid, 'insert, update, delete, truncate'))
         then 'may write, but must be read-only' end], null) as excess
   from pg_roles r where r.rolname = any ($2::name[])`,
);

/** @returns a readable sentence for each privilege that a login role has and must not have */
export async function findExcessPrivileges(
  db: Db,
  readers: readonly string[],
  roles: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ name: string; excess: string[] }>(ROLES, [readers, roles]);
  return rows.flatMap(({ name, excess }) => excess.map((privilege) => `${name} ${privilege}`));
}

const NOT_IN_DUMPS = statement(
  'diagnostics.not_in_dumps',
  `select c.relname::text as name from pg_class c
   where c.relnamespace = 'caudal'::regnamespace and c.relkind in ('r', 'p')
     and not (has_table_privilege($1, c.oid, 'select') and (not c.relrowsecurity or exists (
       select from pg_policy p join pg_roles r on r.oid = any (p.polroles)
       where p.polrelid = c.oid and r.rolname = $1 and p.polpermissive)))
   order by 1`,
);

/** @returns tables that a dump by the backup role would fail on or leave empty */
export async function findTablesMissingInDumps(db: Db, backupRole: string): Promise<string[]> {
  return (await db.query<{ name: string }>(NOT_IN_DUMPS, [backupRole])).map(({ name }) => name);
}

const WITHOUT_RLS = statement(
  'diagnostics.without_rls',
  `select c.relname::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = 'caudal' and c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity)
     and (c.relname = 'organizations' or exists (
       select from pg_attribute t where t.attrelid = c.oid and t.attname = 'organization_id' and not t.attisdropped))
   order by 1`,
);

/** @returns tenant tables without forced row-level security: one merchant could see another's rows */
export async function findTablesWithoutRls(db: Db): Promise<string[]> {
  return (await db.query<{ name: string }>(WITHOUT_RLS)).map(({ name }) => name);
}
