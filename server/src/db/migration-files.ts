import { readdir, readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { sha256 } from '../kit/crypto.ts';
import { statement, type Tx } from './tx.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

export interface Migration {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

/** Migrations of this version that are not applied. Throws when the database is newer or an applied file has changed. */
export async function pendingMigrations(client: Client): Promise<Migration[]> {
  const all = await migrationFiles();
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from caudal_meta.migrations',
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  for (const [name, checksum] of applied) {
    const file = all.find((migration) => migration.name === name);
    if (!file)
      throw new Error(
        `the database has migration ${name}, which this version does not know: it was applied by a newer version`,
      );
    if (file.checksum !== checksum)
      throw new Error(`migration ${name} was changed after it was applied; write a new one instead`);
  }
  return all.filter((migration) => !applied.has(migration.name));
}

export interface MigrationStatus {
  /** Part of this version and not yet applied. */
  readonly pending: readonly string[];
  /** Applied by a newer version. */
  readonly unknown: readonly string[];
  /** The file differs from the one that was applied. */
  readonly changed: readonly string[];
}

const APPLIED = statement('migrations.applied', 'select name, checksum from caudal_meta.migrations');

/** Compares the applied migrations with those of this version. Read-only. */
export async function migrationStatus(db: Pick<Tx, 'query'>): Promise<MigrationStatus> {
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
