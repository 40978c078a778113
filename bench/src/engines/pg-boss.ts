import { PgBoss } from 'pg-boss';
import { CONNECTIONS, type EngineDriver, type Item, makeItem } from './engine.ts';

const FIRST = 'first-step';
const SECOND = 'second-step';

/** The settings for throughput in its documentation; polling every half second is its minimum. */
const WORK = { batchSize: 500, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };

/** pg-boss has jobs without steps: the first job of an item creates the second. */
export const pgBoss: EngineDriver = {
  unfinished: "select count(*)::int as count from pgboss.job where state < 'completed'",
  install: async (databaseUrl) => {
    const boss = await start(databaseUrl);
    for (const queue of [FIRST, SECOND]) await boss.createQueue(queue);
    await boss.stop();
  },
  open: async (databaseUrl, done) => {
    const boss = await start(databaseUrl);
    if (done) {
      await boss.work<Item>(FIRST, WORK, (jobs) =>
        boss.insert(
          SECOND,
          jobs.map(({ data }) => ({ data })),
        ),
      );
      await boss.work<Item>(SECOND, WORK, async (jobs) => jobs.forEach(({ data }) => done(data.id)));
    }
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
