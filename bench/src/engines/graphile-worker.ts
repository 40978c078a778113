import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import {
  CONNECTIONS,
  type Engine,
  type EngineDriver,
  type Item,
  makeItem,
  type Processing,
} from './engine.ts';

const FIRST = 'first_step';
const SECOND = 'second_step';

const logger = new Logger(() => () => undefined);

/** The settings for throughput in its documentation: jobs are fetched and completed in sets. */
const THROUGHPUT = {
  concurrentJobs: CONNECTIONS,
  maxPoolSize: CONNECTIONS,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
};

/** graphile-worker has jobs without steps: the first job of an item creates the second. */
export const graphileWorker: EngineDriver = {
  unfinished: 'select count(*)::int as count from graphile_worker.jobs',
  install: (databaseUrl) => runMigrations({ connectionString: databaseUrl, logger }),
  open: (databaseUrl, processing) =>
    processing ? openWorker(databaseUrl, processing) : openCreator(databaseUrl),
};

async function openCreator(databaseUrl: string): Promise<Engine> {
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, maxPoolSize: CONNECTIONS, logger });
  return {
    create: (id) => utils.addJob(FIRST, makeItem(id)),
    createSet: (ids) => utils.addJobs(ids.map((id) => ({ identifier: FIRST, payload: makeItem(id) }))),
    close: async () => utils.release(),
  };
}

async function openWorker(databaseUrl: string, { steps, done }: Processing): Promise<Engine> {
  const finish = (item: unknown) => done((item as Item).id);
  const runner = await run({
    preset: { worker: { connectionString: databaseUrl, logger, ...THROUGHPUT } },
    taskList: {
      [FIRST]: steps === 1 ? finish : async (item, { addJob }) => void (await addJob(SECOND, item)),
      [SECOND]: finish,
    },
    noHandleSignals: true,
  });
  return {
    create: (id) => runner.addJob(FIRST, makeItem(id)),
    createSet: (ids) => Promise.all(ids.map((id) => runner.addJob(FIRST, makeItem(id)))),
    close: () => runner.stop(),
  };
}
