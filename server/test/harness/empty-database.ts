import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';
import { OWNER } from '../../../scripts/stack/postgres.ts';
import type { TestDatabase } from './database.ts';

export interface EmptyDatabase extends TestDatabase {
  /**
   * CAUDAL_DATABASE_ROLE_PREFIX of a deployment in this database; the template's roles belong to another
   * deployment.
   */
  readonly rolePrefix: string;
}

/** An empty database, for tests of `migrate`. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const { adminUrl, ownerUrl } = inject('postgres');
  const name = `empty_${randomBytes(6).toString('hex')}`;
  await query(adminUrl, `create database ${name} template template0 owner ${OWNER}`);
  const at = (url: string) => url.replace(/\/postgres$/, `/${name}`);
  return {
    url: at(adminUrl),
    ownerUrl: at(ownerUrl),
    name,
    rolePrefix: name,
    query: (text, values) => query(at(adminUrl), text, values),
    drop: async () => {
      await query(adminUrl, `drop database if exists ${name} with (force)`);
      for (const role of ['read', 'batch', 'system', 'backup'])
        await query(adminUrl, `drop role if exists ${name}_${role}`);
    },
  };
}

async function query<Row extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
