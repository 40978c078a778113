import { writeFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { expectedRights, readRights } from '../../src/db/rights.ts';
import { ROLE_KINDS, type RoleKind } from '../../src/kit/database-roles.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { executeAll, type ProbeResult } from './probe.ts';

// Regenerate the expected rights after a migration: CAUDAL_WRITE_RIGHTS=1 npx vitest run server/test/isolation/rights-matrix.test.ts

interface Relation {
  /** The name in the matrix: all months of a table are one row. */
  readonly title: string;
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

let database: TestDatabase;
let tables: Relation[];
const clients: Client[] = [];

beforeAll(async () => {
  database = await cloneDatabase();
  tables = await database.query<Relation>(
    `select regexp_replace(c.relname, '_[0-9]{6}$', ' (month)') as title, quote_ident(c.relname) as name,
       (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attname collate "C")
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
     from pg_class c where c.relnamespace = 'caudal'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') order by 1, 2`,
  );
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database?.drop();
});

/** A session of the superuser that has switched to the role: its rights are those of a login of the role. */
async function connectAs(role: RoleKind): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  clients.push(client);
  await client.query(`set role caudal_${role}`);
  return client;
}

function isAllowed({ sql, state, message }: ProbeResult): boolean {
  if (state === 'done') return true;
  // 428C9: no role may set an identity column.
  if (state === '428C9' || (state === '42501' && message.startsWith('permission denied'))) return false;
  throw new Error(`${sql}: ${message}`);
}

const COLUMN_STATEMENTS: Readonly<Record<string, (table: string, column: string, type: string) => string>> = {
  select: (table, column) => `select ${column} from ${table} where false`,
  insert: (table, column, type) => `insert into ${table} (${column}) select null::${type} where false`,
  update: (table, column) => `update ${table} set ${column} = null where false`,
};
const TABLE_STATEMENTS: Readonly<Record<string, (table: string) => string>> = {
  delete: (table) => `delete from ${table} where false`,
  truncate: (table) => `truncate ${table}`,
};

let executed = 0;

interface Trial {
  readonly title: string;
  readonly kind: string;
  readonly column: string | null;
  readonly columns: number;
  readonly sql: string;
}

function toTrials({ title, name, columns }: Relation): Trial[] {
  const about = { title, columns: columns.length };
  return [
    ...Object.entries(COLUMN_STATEMENTS).flatMap(([kind, toSql]) =>
      columns.map((column) => ({
        ...about,
        kind,
        column: column.name,
        sql: toSql(`caudal.${name}`, `"${column.name}"`, column.type),
      })),
    ),
    ...Object.entries(TABLE_STATEMENTS).map(([kind, toSql]) => ({
      ...about,
      kind,
      column: null,
      sql: toSql(`caudal.${name}`),
    })),
  ];
}

/** Tries every statement kind on every column and table. @returns lines in the form of the expected rights */
async function tryEverything(role: RoleKind): Promise<string[]> {
  const trials = tables.flatMap(toTrials);
  const results = await executeAll(
    await connectAs(role),
    trials.map(({ sql }) => sql),
  );
  executed += results.length;
  const allowed = trials.filter((_, index) => isAllowed(results[index] as ProbeResult));
  const groups = Map.groupBy(allowed, ({ title, kind }) => `${title} ${role} ${kind}`);
  return [...groups].map(([line, [first, ...others]]) => {
    // Every month of a table has the same columns.
    const names = new Set([first, ...others].map((trial) => trial?.column));
    if (first?.column === null) return line;
    return `${line} ${names.size === first?.columns ? '*' : [...names].join(' ')}`;
  });
}

const isStatement = (line: string) => / (?:select|insert|update|delete|truncate)(?: |$)/.test(line);
const { roles } = readConfig('api', settingsFor('postgres://localhost/none')).database;
const session = {
  query: <Row extends object>({ text }: { text: string }, values?: readonly unknown[]) =>
    database.query<Row>(text, values),
};

describe('the rights of the database roles', () => {
  it('are the checked-in ones, by the catalog', async () => {
    const found = await readRights(session, roles);
    if (process.env['CAUDAL_WRITE_RIGHTS'] === '1')
      writeFileSync(new URL('../../src/db/rights.txt', import.meta.url), `${found.join('\n')}\n`);
    expect(found).toEqual(expectedRights());
  });

  it('are the checked-in ones, by executing every kind of statement on every column', async () => {
    const found = (await Promise.all(ROLE_KINDS.map(tryEverything))).flat();
    expect(found.toSorted()).toEqual(expectedRights().filter(isStatement).toSorted());
    process.stdout.write(`${executed} statements on ${tables.length} tables and partitions\n`);
    expect(executed).toBeGreaterThan(5000);
  });

  it('let only the system role and the backup role see a function that changes anything', async () => {
    const functions = await database.query<{ call: string; roles: string[] }>(
      `select p.oid::regprocedure::text as call, array(select r from unnest($1::text[]) as r where has_function_privilege(r, p.oid, 'execute')) as roles
       from pg_proc p where p.pronamespace = 'caudal'::regnamespace and p.provolatile = 'v' order by 1`,
      [ROLE_KINDS.map((kind) => roles[kind])],
    );
    expect(functions.filter(({ roles: granted }) => granted.some((role) => role !== roles.system))).toEqual(
      [],
    );
  });
});
