import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';
import { ACCEPT_COPY, OWNER } from '../../../scripts/stack/postgres.ts';

export interface TestDatabase {
  /** Connects as the superuser, which bypasses row-level security. */
  readonly url: string;
  /** Connects as the schema owner, with the privileges a managed service grants; servers use this one. */
  readonly ownerUrl: string;
  readonly name: string;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

/** Clones a migrated database for one test file. */
export async function cloneDatabase(template = inject('postgres').template): Promise<TestDatabase> {
  const { adminUrl, ownerUrl } = inject('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(adminUrl, async (admin) => {
    // Clone serially: PostgreSQL refuses to copy a template that another session is copying.
    await admin.query('select pg_advisory_lock(7)');
    await admin.query(`create database ${name} template ${template} owner ${OWNER} strategy file_copy`);
  });
  const url = adminUrl.replace(/\/postgres$/, `/${name}`);
  // The template may be older than the time within which doctor expects the first run of every schedule.
  await asAdmin(url, (admin) =>
    admin.query(`update caudal_meta.migrations set applied_at = now(); ${ACCEPT_COPY}`),
  );
  return {
    url,
    ownerUrl: ownerUrl.replace(/\/postgres$/, `/${name}`),
    name,
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      const client = new Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query<Row>(text, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    drop: () => asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`)),
  };
}

async function asAdmin(url: string, work: (admin: Client) => Promise<unknown>): Promise<void> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
