import { randomBytes } from 'node:crypto';
import { Client, Pool } from 'pg';
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
  // A login costs PostgreSQL a process; waiting for a condition makes hundreds of queries.
  const pool = new Pool({ connectionString: url, max: 20, idleTimeoutMillis: 1000, allowExitOnIdle: true });
  // A connection that the test or a crash ends; the next query opens another.
  pool.on('error', () => undefined);
  return {
    url,
    ownerUrl: ownerUrl.replace(/\/postgres$/, `/${name}`),
    name,
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await pool.query<Row>(text, [...values])).rows,
    drop: async () => {
      if (!pool.ended) await pool.end();
      await asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
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
