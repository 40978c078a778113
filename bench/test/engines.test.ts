import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EmptyDatabase, emptyDatabase } from '../../server/test/harness/empty-database.ts';
import { DRIVERS } from '../src/engines/drivers.ts';
import type { EngineDriver } from '../src/engines/engine.ts';
import { type Cluster, withEngines } from '../src/engines/measure-engine.ts';
import { runWorkload } from '../src/engines/workload.ts';

const TINY = { warmUpSeconds: 0.05, seconds: 0.1 };

let database: EmptyDatabase;
beforeAll(async () => {
  database = await emptyDatabase();
});
afterAll(async () => {
  await database?.drop();
});

describe('withEngines', () => {
  it.each(Object.keys(DRIVERS))(
    'stores and completes every item of %s exactly once, and removes its databases',
    async (engine) => {
      const cluster: Cluster = { query: (text) => database.query(text), databaseUrl: database.url };
      const figures = await withEngines(cluster, [engine], async (measure) => [
        await measure(engine, 'sets', TINY),
        await measure(engine, 'backlog', TINY),
        await measure(engine, 'steps', TINY),
      ]);
      for (const figure of figures.flatMap((each) => Object.values(each))) expect(figure).toBeGreaterThan(0);
      expect(await database.query("select from pg_database where datname like 'engine%'")).toEqual([]);
    },
  );
});

describe('runWorkload', () => {
  // A millisecond passes each time the clock is read: a stalled process creates as many items as another.
  beforeEach(() => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
  });
  afterEach(() => vi.restoreAllMocks());

  const driver = (create: (id: string, done: (id: string) => void) => void): EngineDriver => ({
    unfinished: 'select 0 as count',
    install: async () => undefined,
    open: async (_databaseUrl, processing) => ({
      // Not at once: callers that never wait for input or output would keep the process busy.
      create: (id) =>
        new Promise<void>((resolve) => {
          setImmediate(() => {
            create(id, processing?.done ?? (() => undefined));
            resolve();
          });
        }),
      createSet: async () => undefined,
      close: async () => undefined,
    }),
  });
  const plan = () => ({ databaseUrl: database.url, warmUpSeconds: 0, seconds: 0.05 });

  it('rejects an engine that acknowledges items without storing them', async () => {
    await expect(
      runWorkload(
        driver(() => undefined),
        { workload: 'single', ...plan() },
      ),
    ).rejects.toThrow(/\d+ items were acknowledged, 0 are in the database/);
  });

  it('rejects an engine that completes an item twice', async () => {
    const twice = driver((id, done) => {
      done(id);
      done(id);
    });
    await expect(runWorkload(twice, { workload: 'steps', ...plan() })).rejects.toThrow(/not exactly once/);
  });
});
