import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { sha256 } from '../kit/crypto.ts';
import type { Log } from '../kit/log.ts';
import { statement, type Tx } from './tx.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any constant; it names this lock among the advisory locks of the database. */
const LOCK = 7_283_146;

interface MigrateOptions {
  /** Connects as the owner of the schema, who may also create roles. */
  readonly ownerUrl: string;
  /** The login roles of the server and their passwords. */
  readonly roles: readonly { readonly name: string; readonly password: string }[];
  readonly environment: string;
  readonly cell: number;
  readonly log: Log;
}

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

/**
 * Brings the database to this version: forward only, one at a time (advisory lock), each file in its own transaction.
 * Throws at the first failure; what was applied before it stays.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const client = new Client({
    connectionString: options.ownerUrl,
    application_name: 'caudal-migrate',
    options: '-c timezone=UTC',
  });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    // Before anything is touched: a database of somebody else keeps its passwords and its tables.
    await refuseForeignDeployment(client, options);
    await ensureRoles(client, options.roles);
    await client.query('create schema if not exists caudal_meta');
    await client.query(
      'create table if not exists caudal_meta.migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    );
    for (const migration of await pending(client)) {
      await apply(client, migration);
      options.log.info({ migration: migration.name }, 'migration applied');
    }
    await ensureDeployment(client, options);
    await client.query("select caudal.make_months(caudal.now() + interval '3 months')");
  } finally {
    await client.end();
  }
}

/** Names of the migrations this version has and the database has not. Throws when the database is ahead or differs. */
async function pending(client: Client): Promise<Migration[]> {
  const all = await migrationFiles();
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from caudal_meta.migrations',
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  for (const [name, checksum] of applied) {
    const file = all.find((migration) => migration.name === name);
    if (!file)
      throw new Error(
        `the database has migration ${name}, which this version does not know: it was made by a newer one`,
      );
    if (file.checksum !== checksum)
      throw new Error(`migration ${name} was changed after it was applied; write a new one instead`);
  }
  return all.filter((migration) => !applied.has(migration.name));
}

export interface MigrationStanding {
  /** This version has it, the database has not. */
  readonly pending: readonly string[];
  /** Made by a newer version. */
  readonly unknown: readonly string[];
  /** Another text than was applied. */
  readonly changed: readonly string[];
}

const APPLIED = statement('migrations.applied', 'select name, checksum from caudal_meta.migrations');

/** How the database stands to this version; changes nothing. */
export async function migrationStanding(db: Pick<Tx, 'query'>): Promise<MigrationStanding> {
  const rows = await db.query<{ name: string; checksum: string }>(APPLIED);
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const files = await migrationFiles();
  const names = new Set(files.map(({ name }) => name));
  return {
    pending: files.flatMap(({ name }) => (applied.has(name) ? [] : [name])),
    unknown: [...applied.keys()].filter((name) => !names.has(name)).sort(),
    changed: files.flatMap(({ name, checksum }) =>
      applied.has(name) && applied.get(name) !== checksum ? [name] : [],
    ),
  };
}

async function migrationFiles(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      return { name, text, checksum: sha256(text).toString('hex') };
    }),
  );
}

export async function newestMigration(): Promise<string> {
  return (await migrationFiles()).at(-1)?.name ?? '';
}

async function apply(client: Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(migration.text);
    await client.query('insert into caudal_meta.migrations (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('grant usage on schema caudal_meta to caudal_system');
    await client.query('grant select on caudal_meta.migrations to caudal_system');
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(
      `migration ${migration.name} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** Roles belong to the cluster: another database may have made them already, even at this very moment. */
async function ensureRoles(client: Client, roles: MigrateOptions['roles']): Promise<void> {
  for (const { name, password } of roles) {
    const role = client.escapeIdentifier(name);
    const secret = client.escapeLiteral(password);
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name]);
    try {
      if (rowCount === 0)
        await client.query(`create role ${role} login nosuperuser nobypassrls password ${secret}`);
      else await client.query(`alter role ${role} login nosuperuser nobypassrls password ${secret}`);
    } catch (error) {
      const state = (error as { code?: string }).code;
      // 42710: made meanwhile; XX000 "tuple concurrently updated": altered meanwhile, to the same password.
      if (state !== '42710' && state !== 'XX000') throw error;
    }
  }
}

/** A database belongs to one environment and one cell for ever: connecting the wrong server to it must fail. */
async function refuseForeignDeployment(client: Client, options: MigrateOptions): Promise<void> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    "select to_regclass('caudal.deployment') is not null as there",
  );
  if (!tables[0]?.there) return;
  const { rows } = await client.query<{ environment: string; cell: number }>(
    'select environment, cell from caudal.deployment',
  );
  const [row] = rows;
  if (row && (row.environment !== options.environment || row.cell !== options.cell)) {
    throw new Error(
      `this database belongs to ${row.environment}, cell ${row.cell}; the configuration says ${options.environment}, cell ${options.cell}`,
    );
  }
}

async function ensureDeployment(client: Client, options: MigrateOptions): Promise<void> {
  await client.query(
    'insert into caudal.deployment (environment, cell) values ($1, $2) on conflict do nothing',
    [options.environment, options.cell],
  );
}
