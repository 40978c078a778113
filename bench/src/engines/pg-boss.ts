import { type Job, PgBoss } from 'pg-boss';
import { CONNECTIONS, type EngineDriver, type Item, makeItem, type Processing } from './engine.ts';

const FIRST = 'first-step';
const SECOND = 'second-step';

/** The settings for throughput in its documentation; polling every half second is its minimum. */
const WORK = { batchSize: 500, localConcurrency: 2, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };

/** pg-boss has jobs without steps: the first job of an item creates the second. */
export const pgBoss: EngineDriver = {
  unfinished: "select count(*)::int as count from pgboss.job where state < 'completed'",
  install: async (databaseUrl) => {
    const boss = await start(databaseUrl);
    for (const queue of [FIRST, SECOND]) await boss.createQueue(queue);
    await boss.stop();
  },
  open: async (databaseUrl, processing) => {
    const boss = await start(databaseUrl);
    if (processing) await work(boss, processing);
    return {
      create: (id) => boss.send(FIRST, makeItem(id)),
      createSet: (ids) =>
        boss.insert(
          FIRST,
          ids.map((id) => ({ data: makeItem(id) })),
        ),
      close: () => boss.stop(),
    };
  },
};

async function start(databaseUrl: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: CONNECTIONS, schedule: false });
  boss.on('error', (error) => {
    throw error;
  });
  return boss.start();
}

async function work(boss: PgBoss, { steps, done }: Processing): Promise<void> {
  const finish = async (jobs: readonly Job<Item>[]) => jobs.forEach(({ data }) => done(data.id));
  const continueWith = (jobs: readonly Job<Item>[]) =>
    boss.insert(
      SECOND,
      jobs.map(({ data }) => ({ data })),
    );
  await boss.work<Item>(FIRST, WORK, steps === 1 ? finish : continueWith);
  if (steps === 2) await boss.work<Item>(SECOND, WORK, finish);
}
