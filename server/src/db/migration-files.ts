import { readdir, readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { sha256 } from '../kit/crypto.ts';
import { compatibleFrom } from './migration-header.ts';
import { type SchemaDifference, schemaProblems } from './schema-range.ts';
import { statement, type Tx } from './tx.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

export interface Migration {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /** The oldest release, by its newest migration, that still runs after it; null for one older than schema ranges. */
  readonly compatibleFrom: number | null;
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly compatibleFrom: number | null;
}

// As JSON, because a database that was last migrated by an older release has no such column.
const APPLIED_TEXT = `select name, checksum, (to_jsonb(m) ->> 'compatible_from')::int as "compatibleFrom"
   from caudal_meta.migrations m order by name`;
const APPLIED = statement('migrations.applied', APPLIED_TEXT);

export interface PendingMigrations {
  readonly migrations: readonly Migration[];
  /** Applied by a newer release, on whose schema this one runs. Then there is nothing to apply. */
  readonly newer: readonly string[];
}

/** Migrations to apply. Throws when this release cannot run on the database's newer schema, or an applied file has changed. */
export async function pendingMigrations(client: Client): Promise<PendingMigrations> {
  const files = await migrationFiles();
  const { rows } = await client.query<AppliedMigration>(APPLIED_TEXT);
  const { pending, unknown, changed } = compare(files, rows);
  if (changed[0] !== undefined)
    throw new Error(`migration ${changed[0]} was changed after it was applied; write a new one instead`);
  if (unknown.length === 0)
    return { migrations: files.filter(({ name }) => pending.includes(name)), newer: [] };
  const problems = schemaProblems({ pending, unknown });
  if (problems.length > 0) throw new Error(problems.join('; '));
  return { migrations: [], newer: unknown.map(({ name }) => name) };
}

export interface MigrationStatus extends SchemaDifference {
  /** The file differs from the one that was applied. */
  readonly changed: readonly string[];
  /** The newest migration that is applied. */
  readonly newest: string;
}

/** Compares the applied migrations with those of this version. Read-only. */
export async function migrationStatus(db: Pick<Tx, 'query'>): Promise<MigrationStatus> {
  return compare(await migrationFiles(), await db.query<AppliedMigration>(APPLIED));
}

/** Compares every name: merged branches or removed files can leave gaps before the newest migration. */
function compare(files: readonly Migration[], rows: readonly AppliedMigration[]): MigrationStatus {
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const names = new Set(files.map(({ name }) => name));
  return {
    pending: files.flatMap(({ name }) => (applied.has(name) ? [] : [name])),
    unknown: rows.filter(({ name }) => !names.has(name)),
    changed: files.flatMap(({ name, checksum }) =>
      applied.has(name) && applied.get(name) !== checksum ? [name] : [],
    ),
    newest: rows.at(-1)?.name ?? '',
  };
}

let cached: Promise<readonly Migration[]> | null = null;

/** Read once: a newer release may be installed over the files of a running process. */
function migrationFiles(): Promise<readonly Migration[]> {
  cached ??= readMigrationFiles();
  return cached;
}

async function readMigrationFiles(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      return {
        name,
        text,
        checksum: sha256(text).toString('hex'),
        compatibleFrom: compatibleFrom(name, text),
      };
    }),
  );
}
