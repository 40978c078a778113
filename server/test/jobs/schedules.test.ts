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

/** Due immediately: an occurrence within the last minute is due. */
const TICK: Schedule = {
  name: 'tick',
  cron: '* * * * *',
  timezone: 'America/Bogota',
  missed: 'skip',
  retries: 3,
  retryAfterSeconds: 0,
  timeoutSeconds: 60,
  description: 'a test',
};

let database: TestDatabase;
let caudal: InProcess;
let proxy: PostgresProxy;
let started: Schedules[] = [];
let logLines: string[] = [];
beforeAll(async () => {
  database = await cloneDatabase();
  caudal = await composeInProcess(settingsFor(database.ownerUrl));
  proxy = await PostgresProxy.start(database.url);
});
afterEach(async () => {
  proxy.heal();
  logLines = [];
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
  const log = makeLog({ level: 'warn', base: {}, stream: { write: (line) => void logLines.push(line) } });
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

/** Requests a run as an operator or another process does. */
async function requestRun(name: string): Promise<string | null> {
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

const readRuns = (name: string) =>
  database.query<{ state: string; retry_count: number; output: unknown; slot: string | null }>(
    `select state::text, retry_count, output, singleton_on::text as slot from ${JOBS_SCHEMA}.job where name = $1`,
    [name],
  );

/** The number of the current minute of the database. */
async function readMinute(): Promise<number> {
  const [row] = await database.query<{ minute: number }>(
    'select floor(extract(epoch from clock_timestamp()) / 60)::int as minute',
  );
  return row?.minute ?? 0;
}

const never = { ...TICK, name: 'never', cron: '0 0 1 1 *' };

describe('schedules', () => {
  it('run by the clock, once with two workers', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [TICK]);
    let runs = 0;
    const work = { run: () => Promise.resolve(void (runs += 1)) };
    const firstMinute = await readMinute();
    const workers = [startWorker(TICK, work), startWorker(TICK, work)];
    await until('a run has started', () => Promise.resolve(runs > 0));
    // Both workers have checked the clock several times, and every check finds the same occurrence.
    const lastCheckQuery = `select cron_on from ${JOBS_SCHEMA}.version`;
    const [first] = await database.query<{ cron_on: Date }>(lastCheckQuery);
    await until('the clock was checked again', async () => {
      const [now] = await database.query<{ cron_on: Date }>(lastCheckQuery);
      return now && first && now.cron_on > first.cron_on;
    });
    // Otherwise the next minute may begin between the readings.
    await Promise.all(workers.map(({ schedules }) => schedules.stop()));
    const countCompleted = async (name: string) =>
      (await readRuns(name)).filter(({ state }) => state === 'completed').length;
    // pg-boss inserts one send-it job per occurrence, and that job inserts the run. The stop may have left some of both.
    const slots = (await readRuns('__pgboss__send-it')).map(({ slot }) => slot);
    expect(new Set(slots).size).toBe(slots.length);
    expect(slots.length).toBeLessThanOrEqual((await readMinute()) - firstMinute + 1);
    expect((await readRuns('tick')).length).toBe(await countCompleted('__pgboss__send-it'));
    expect(runs).toBe(await countCompleted('tick'));
  });

  it('never have two active runs of one schedule, however often it is requested', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let active = 0;
    let maxActive = 0;
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const work = {
      run: async () => {
        active += 1;
        maxActive = Math.max(maxActive, active);
        await held;
        active -= 1;
      },
    };
    startWorker(never, work);
    startWorker(never, work);
    expect(await until('asked', () => requestRun('never'))).not.toBeNull();
    await until('a run is active', () => Promise.resolve(active === 1));
    expect(await requestRun('never')).toBeNull();
    finish();
    await until('the run is completed', async () =>
      (await readRuns('never')).every(({ state }) => state === 'completed'),
    );
    expect(maxActive).toBe(1);
  });

  it('retry a failed run and report the last success', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let runs = 0;
    const { metrics } = startWorker(never, {
      run: () => {
        runs += 1;
        return runs === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve();
      },
    });
    await requestRun('never');
    const [job] = await until('the run is completed', async () => {
      const all = await readRuns('never');
      return all.every(({ state }) => state === 'completed') && all;
    });
    expect(runs).toBe(2);
    expect(job?.retry_count).toBe(1);
    const [times] = await database.query<{ started: number; completed: number }>(
      `select extract(epoch from started_on)::float8 as started, extract(epoch from completed_on)::float8 as completed
       from ${JOBS_SCHEMA}.job where name = 'never'`,
    );
    expect(metrics.render()).toContain('caudal_schedule_failures_total{schedule="never"} 1');
    const at = /caudal_schedule_last_success_timestamp_seconds\{schedule="never"\} (\S+)/.exec(
      metrics.render(),
    )?.[1];
    // The process rounds its time down to milliseconds.
    expect(Number(at)).toBeGreaterThan((times?.started ?? 0) - 0.001);
    expect(Number(at)).toBeLessThanOrEqual(times?.completed ?? 0);
  });

  it('do not store the error of a run, because it may contain personal data', async () => {
    const once = { ...never, retries: 0 };
    await installSchedules(database.ownerUrl, roleNames('caudal'), [once]);
    startWorker(once, { run: () => Promise.reject(new Error('Key (id_number)=(1020304050)')) });
    await requestRun('never');
    const [job] = await until('the run has failed', async () => {
      const all = await readRuns('never');
      return all.every(({ state }) => state === 'failed') && all;
    });
    expect(job?.output).toMatchObject({ message: 'run failed; see the worker log' });
    expect(JSON.stringify(await database.query(`select * from ${JOBS_SCHEMA}.job`))).not.toContain(
      '1020304050',
    );
    expect(logLines.join('')).toContain('schedule_run_failed');
  });

  it('abort a run when the worker stops, and stop with it', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let running = false;
    let ended = false;
    const { schedules } = startWorker(never, {
      run: (signal) =>
        new Promise((resolve) => {
          running = true;
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          });
        }),
      dueAtStart: () => Promise.resolve(true),
    });
    // The job is active before the worker calls `run`.
    await until('a run has started', () => Promise.resolve(running));
    await schedules.stop();
    expect(ended).toBe(true);
    expect((await readRuns('never')).map(({ state }) => state)).toEqual(['completed']);
  });

  it('start when the database becomes reachable after the worker started', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    proxy.rejectConnections();
    let runs = 0;
    startWorker(
      never,
      { run: () => Promise.resolve(void (runs += 1)), dueAtStart: () => Promise.resolve(true) },
      proxy.through(caudal.config.database.systemUrl),
    );
    await until('a connection attempt was rejected', () =>
      Promise.resolve(logLines.some((line) => line.includes('"code":"database_connection_lost"'))),
    );
    expect(runs).toBe(0);
    proxy.heal();
    await until('a run has started', () => Promise.resolve(runs > 0));
  });

  it('continue after a database outage', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [never]);
    let runs = 0;
    startWorker(
      never,
      { run: () => Promise.resolve(void (runs += 1)), dueAtStart: () => Promise.resolve(true) },
      proxy.through(caudal.config.database.systemUrl),
    );
    await until('a run has started', () => Promise.resolve(runs === 1));
    await until('the run is completed', async () =>
      (await readRuns('never')).every(({ state }) => state === 'completed'),
    );
    proxy.rejectConnections();
    await until('a poll was rejected', () =>
      Promise.resolve(logLines.some((line) => line.includes('"code":"database_connection_lost"'))),
    );
    await requestRun('never');
    proxy.heal();
    await until('a second run has started', () => Promise.resolve(runs > 1));
    expect(runs).toBe(2);
  });

  it('need no privilege to create tables: the worker role has none in their schema', async () => {
    const [rights] = await database.query<{ create: boolean; owned: number }>(
      `select has_schema_privilege('caudal_system', '${JOBS_SCHEMA}', 'create') as create,
         (select count(*)::int from pg_class c where c.relnamespace = '${JOBS_SCHEMA}'::regnamespace
            and pg_get_userbyid(c.relowner) = 'caudal_system') as owned`,
    );
    expect(rights).toEqual({ create: false, owned: 0 });
  });

  it('are removed when deleted from the catalog, and updated when changed', async () => {
    await installSchedules(database.ownerUrl, roleNames('caudal'), [TICK, never]);
    await installSchedules(database.ownerUrl, roleNames('caudal'), [
      { ...never, cron: '5 5 * * *', timeoutSeconds: 77 },
    ]);
    expect(await database.query(`select name, cron, timezone from ${JOBS_SCHEMA}.schedule`)).toEqual([
      { name: 'never', cron: '5 5 * * *', timezone: 'America/Bogota' },
    ]);
    expect(
      await database.query(`select expire_seconds from ${JOBS_SCHEMA}.queue where name = 'never'`),
    ).toEqual([{ expire_seconds: 77 }]);
  });
});
