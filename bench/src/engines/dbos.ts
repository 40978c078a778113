import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import type { Pool } from 'pg';
import {
  CONNECTIONS,
  type Engine,
  type EngineDriver,
  type Item,
  makeItem,
  openPool,
  type Processing,
} from './engine.ts';

const QUEUED = { queueName: 'items', workflowName: 'process_item', applicationName: 'bench' };

/** Workflows are enqueued when they are only created. With two steps they start at once, which needs fewer statements. */
export const dbos: EngineDriver = {
  unfinished:
    "select count(*)::int as count from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')",
  install: (databaseUrl) => DBOS.migrate(databaseUrl),
  open: (databaseUrl, processing) => (processing ? launch(databaseUrl, processing) : openClient(databaseUrl)),
};

async function openClient(databaseUrl: string): Promise<Engine> {
  const pool = openPool(databaseUrl);
  const client = await DBOSClient.create({ systemDatabaseUrl: databaseUrl, systemDatabasePool: pool });
  return {
    create: (id) => client.enqueue({ ...QUEUED, workflowID: id }, makeItem(id)),
    createSet: (ids) => enqueueTogether(client, pool, ids),
    close: async () => {
      await client.destroy();
      await pool.end();
    },
  };
}

/** DBOS has no batch API; the nearest is one transaction of the caller, with one statement per workflow. */
async function enqueueTogether(client: DBOSClient, pool: Pool, ids: readonly string[]): Promise<void> {
  const connection = await pool.connect();
  await connection.query('begin');
  for (const id of ids)
    await client.enqueueInTransaction(connection, { ...QUEUED, workflowID: id }, makeItem(id));
  await connection.query('commit');
  connection.release();
}

async function launch(databaseUrl: string, { steps, done }: Processing): Promise<Engine> {
  const workflow = DBOS.registerWorkflow(
    async (item: Item) => {
      if (steps === 2)
        for (const name of ['first', 'second']) await DBOS.runStep(async () => item.id, { name });
      done(item.id);
    },
    { name: QUEUED.workflowName },
  );
  DBOS.setConfig({
    name: QUEUED.applicationName,
    systemDatabaseUrl: databaseUrl,
    systemDatabasePoolSize: CONNECTIONS,
    logLevel: 'error',
  });
  await DBOS.launch();
  await DBOS.registerQueue(QUEUED.queueName, { minPollingIntervalMs: 100 });
  const create = (id: string) => DBOS.startWorkflow(workflow, { workflowID: id })(makeItem(id));
  return {
    create,
    createSet: (ids) => Promise.all(ids.map(create)),
    close: () => DBOS.shutdown(),
  };
}
