import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { makeDatabaseFolder } from '../../../scripts/stack/memory-folder.ts';
import { createOwner, OWNER, startPostgres } from '../../../scripts/stack/postgres.ts';
import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import type { TestDatabase } from './database.ts';

/**
 * A migrated database in its own PostgreSQL cluster, for settings that would affect the other tests of the
 * run.
 */
export async function startOwnCluster(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestDatabase> {
  const folder = makeDatabaseFolder('caudal-cluster-');
  const cluster = await startPostgres({ dataDir: join(folder, 'pg'), settings, temporaryFolder: folder });
  const name = 'caudal';
  const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const client = new Client({ connectionString: cluster.url(name) });
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const admin = new Client({ connectionString: cluster.url('postgres') });
  await admin.connect();
  await createOwner(admin);
  await admin.query(`create database ${name} owner ${OWNER}`);
  await admin.end();
  const nowhere = 'http://127.0.0.1:1';
  await runServerCommand(
    ['migrate'],
    serverSettings({ databaseUrl: cluster.ownerUrl(name), simulatorUrl: nowhere, baseUrl: nowhere }),
  );
  return {
    url: cluster.url(name),
    ownerUrl: cluster.ownerUrl(name),
    name,
    query,
    drop: async () => {
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
