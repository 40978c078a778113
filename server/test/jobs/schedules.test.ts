import { PgBoss } from 'pg-boss';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FailureLog } from '../../src/db/failure-log.ts';
import type { Schedule } from '../../src/jobs/schedule-catalogue.ts';
import { installSchedules, JOBS_SCHEMA } from '../../src/jobs/schedule-schema.ts';
import { Schedules, type ScheduleWork } from '../../src/jobs/schedules.ts';
import { roleNames } from '../../src/kit/database-roles.ts';
import { makeLog } from '../../src/kit/log.ts';
import { Metrics } from '../../src/kit/metrics.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { until } from '../harness/until.ts';

/** Due the moment a worker looks: an occurrence of the last minute is due. */
const TICK: Schedule = {
  name: 'tick',
  cron: '* * * * *',
  timezone: 'America/Bogota',
  missed: 'skip',
  retries: 3,
  retryAfterSeconds: 0,
  withinSeconds: 60,
  why: 'a test',
};

let database: TestDatabase;
let caudal: InProcess;
let proxy: PostgresProxy;
let started: Schedules[] = [];
let said: string[] = [];
beforeAll(async () => {
  database = await cloneDatabase();
  caudal = await composeInProcess(settingsFor(database.ownerUrl));
  proxy = await PostgresProxy.start(database.url);
});
afterEach(async () => {
  proxy.heal();
  said = [];
  await Promise.all(started.map((schedules) => schedules.stop()));
  started = [];
  await database.query(`delete from ${JOBS_SCHEMA}.job`);
});
afterAll(async () => {
  await proxy?.close();
  await caudal?.close();
  await database?.drop();
});

interface Worker {
  readonly schedules: Schedules;
  readonly metrics: Metrics;
}

function startWorker(
  schedule: Schedule,
  work: ScheduleWork,
  systemUrl = caudal.config.database.systemUrl,
): Worker {
  const metrics = new Metrics();
  const log = makeLog({ level: 'warn', base: {}, stream: { write: (line) => void said.push(line) } });
  const schedules = new Schedules({
    systemUrl,
    connections: 2,
    db: caudal.deps.system,
    schedules: [schedule],
    work: { [schedule.name]: work },
    metrics,
    log,
    failures: new FailureLog(log),
  });
  schedules.start();
  started.push(schedules);
  return { schedules, metrics };
}

/** As a person or another process would ask for a run. */
async function ask(name: string): Promise<string | null> {
  const boss = new PgBoss({
    connectionString: caudal.config.database.systemUrl,
    schema: JOBS_SCHEMA,
    migrate: false,
    schedule: false,
    supervise: false,
    max: 1,
  });
  await boss.start();
  try {
    return await boss.send(name);
  } finally {
    await boss.stop({ graceful: false });
  }
}

const runsOf = (name: string) =>
  database.query<{ state: string; retry_count: number; output: unknown; slot: string | null }>(
    `select state::text, retry_count, output, singleton_on::text as slot from ${JOBS_SCHEMA}.job where name = $1`,
    [name],
  );

const never = { ...TICK, name: 'never', cron: '0 0 1 1 *' };

describe('schedules', () => {
  it('run by the clock, once though two workers live', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [TICK]);
    let runs = 0;
    const work = { run: () => Promise.resolve(void (runs += 1)) };
    startWorker(TICK, work);
    startWorker(TICK, work);
    await until('a run', () => Promise.resolve(runs > 0), 20_000);
    // Both have looked at the clock several times by now, and every look finds the same occurrence.
    const looked = `select cron_on from ${JOBS_SCHEMA}.version`;
    const [first] = await database.query<{ cron_on: Date }>(looked);
    await until(
      'a further look at the clock',
      async () => {
        const [now] = await database.query<{ cron_on: Date }>(looked);
        return now && first && now.cron_on > first.cron_on;
      },
      20_000,
    );
    const jobs = await until('no run under way', async () => {
      const all = await runsOf('tick');
      return all.every(({ state }) => state === 'completed') && all;
    });
    // A minute may have begun meanwhile: one run for each.
    expect(new Set(jobs.map(({ slot }) => slot)).size).toBe(jobs.length);
    expect(jobs.length).toBeLessThanOrEqual(2);
    expect(runs).toBe(jobs.length);
  });

  it('never have two runs of one under way, however often one is asked for', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let under = 0;
    let most = 0;
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const work = {
      run: async () => {
        under += 1;
        most = Math.max(most, under);
        await held;
        under -= 1;
      },
    };
    startWorker(never, work);
    startWorker(never, work);
    expect(await until('asked', () => ask('never'))).not.toBeNull();
    await until('a run under way', () => Promise.resolve(under === 1));
    expect(await ask('never')).toBeNull();
    finish();
    await until('the run is done', async () =>
      (await runsOf('never')).every(({ state }) => state === 'completed'),
    );
    expect(most).toBe(1);
  });

  it('try a failed run again, and tell when it last succeeded', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let runs = 0;
    const { metrics } = startWorker(never, {
      run: () => {
        runs += 1;
        return runs === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve();
      },
    });
    await ask('never');
    const [job] = await until(
      'the run is done',
      async () => {
        const all = await runsOf('never');
        return all.every(({ state }) => state === 'completed') && all;
      },
      20_000,
    );
    expect(runs).toBe(2);
    expect(job?.retry_count).toBe(1);
    expect(metrics.render()).toContain('caudal_schedule_failures_total{schedule="never"} 1');
    const at = /caudal_schedule_last_success_timestamp_seconds\{schedule="never"\} (\S+)/.exec(
      metrics.render(),
    )?.[1];
    expect(Math.abs(Number(at) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('store nothing of the error of a run: it may quote personal data', async () => {
    const once = { ...never, retries: 0 };
    await installSchedules(database.ownerUrl, roleNames('caudal'), [once]);
    startWorker(once, { run: () => Promise.reject(new Error('Key (id_number)=(1020304050)')) });
    await ask('never');
    const [job] = await until('the run has failed', async () => {
      const all = await runsOf('never');
      return all.every(({ state }) => state === 'failed') && all;
    });
    expect(job?.output).toMatchObject({ message: 'the run failed; the log of the worker says why' });
    expect(JSON.stringify(await database.query(`select * from ${JOBS_SCHEMA}.job`))).not.toContain(
      '1020304050',
    );
    expect(said.join('')).toContain('a run of a schedule failed');
  });

  it('tell a run to end when the worker stops, and stop with it', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let ended = false;
    const { schedules } = startWorker(never, {
      run: (signal) =>
        new Promise((resolve) => {
          ended = signal.aborted;
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          });
        }),
      dueAtStart: () => Promise.resolve(true),
    });
    await until('a run under way', async () =>
      (await runsOf('never')).some(({ state }) => state === 'active'),
    );
    await schedules.stop();
    expect(ended).toBe(true);
    expect((await runsOf('never')).map(({ state }) => state)).toEqual(['completed']);
  });

  it('begin by themselves when the database was away at the start', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    proxy.refuse();
    let runs = 0;
    startWorker(
      never,
      { run: () => Promise.resolve(void (runs += 1)), dueAtStart: () => Promise.resolve(true) },
      proxy.through(caudal.config.database.systemUrl),
    );
    await until('a try that was refused', () =>
      Promise.resolve(said.some((line) => line.includes('"code":"database_connection_lost"'))),
    );
    expect(runs).toBe(0);
    proxy.heal();
    await until('a run', () => Promise.resolve(runs > 0), 20_000);
  });

  it('go on by themselves when the database was away for a while', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let runs = 0;
    startWorker(
      never,
      { run: () => Promise.resolve(void (runs += 1)), dueAtStart: () => Promise.resolve(true) },
      proxy.through(caudal.config.database.systemUrl),
    );
    await until('a run', () => Promise.resolve(runs === 1), 20_000);
    await until('the run is done', async () =>
      (await runsOf('never')).every(({ state }) => state === 'completed'),
    );
    proxy.refuse();
    await until(
      'a poll that was refused',
      () => Promise.resolve(said.some((line) => line.includes('"code":"database_connection_lost"'))),
      20_000,
    );
    await ask('never');
    proxy.heal();
    await until('a second run', () => Promise.resolve(runs > 1), 20_000);
    expect(runs).toBe(2);
  });

  it('need no right to make tables: the role of workers has none in their schema', async () => {
    const [rights] = await database.query<{ create: boolean; owned: number }>(
      `select has_schema_privilege('caudal_system', '${JOBS_SCHEMA}', 'create') as create,
         (select count(*)::int from pg_class c where c.relnamespace = '${JOBS_SCHEMA}'::regnamespace
            and pg_get_userbyid(c.relowner) = 'caudal_system') as owned`,
    );
    expect(rights).toEqual({ create: false, owned: 0 });
  });

  it('that have left the catalogue leave the clock, and others take their new times', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [TICK, never]);
    await installSchedules(database.ownerUrl, roleNames('caudal'), [
      { ...never, cron: '5 5 * * *', withinSeconds: 77 },
    ]);
    expect(await database.query(`select name, cron, timezone from ${JOBS_SCHEMA}.schedule`)).toEqual([
      { name: 'never', cron: '5 5 * * *', timezone: 'America/Bogota' },
    ]);
    expect(
      await database.query(`select expire_seconds from ${JOBS_SCHEMA}.queue where name = 'never'`),
    ).toEqual([{ expire_seconds: 77 }]);
  });
});
