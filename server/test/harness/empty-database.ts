import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';
import type { TestDatabase } from './database.ts';

/** A database with nothing in it, for tests of what `migrate` makes of one. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const { adminUrl } = inject('postgres');
  const name = `empty_${randomBytes(6).toString('hex')}`;
  await query(adminUrl, `create database ${name} template template0`);
  const url = adminUrl.replace(/\/postgres$/, `/${name}`);
  return {
    url,
    name,
    query: (text, values) => query(url, text, values),
    drop: async () => {
      await query(adminUrl, `drop database if exists ${name} with (force)`);
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
