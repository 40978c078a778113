import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import type { FailureLog } from '../db/failure-log.ts';
import { ConnectionLost, isDatabaseError } from '../db/failures.ts';
import type { SystemDb } from '../db/system.ts';
import { realSeconds } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Counter, Metrics } from '../kit/metrics.ts';
import { dueQueues, lastSuccesses } from './schedule.store.ts';
import type { Schedule } from './schedule-catalogue.ts';
import { JOBS_SCHEMA } from './schedule-schema.ts';

const START_RETRY_MS = 3000;
/** Shorter than the shutdown time of the process; a longer run is failed and another worker retries it. */
const STOP_WITHIN_MS = 10_000;
const POLL_EVERY_MS = 2000;
/** pg-boss polls each queue with its own statement; this is only the fallback for our own poll. */
const BOSS_POLLS_EVERY_SECONDS = 60;

export interface ScheduleWork {
  /** Runs the work; returns early when the signal is aborted, because another run follows. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Whether a starting worker requests a run immediately. */
  readonly dueAtStart?: () => Promise<boolean>;
}

interface SchedulesOptions<Name extends string> {
  readonly systemUrl: string;
  /** Maximum connections of pg-boss. */
  readonly connections: number;
  readonly db: SystemDb;
  readonly schedules: readonly (Schedule & { readonly name: Name })[];
  readonly work: Readonly<Record<Name, ScheduleWork>>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: FailureLog;
}

/**
 * Runs the schedules of the catalogue in a worker process with pg-boss. The process survives database outages:
 * pg-boss's polls fail until the database is back, and a failed start is retried.
 */
export class Schedules<Name extends string = string> {
  readonly #options: SchedulesOptions<Name>;
  readonly #stopping = new AbortController();
  readonly #succeeded = new Map<string, number>();
  readonly #failures: Counter;
  #boss: PgBoss | null = null;
  readonly #workers = new Map<string, string>();
  #starting: Promise<void> | null = null;
  #polling: Promise<void> | null = null;

  constructor(options: SchedulesOptions<Name>) {
    this.#options = options;
    this.#failures = options.metrics.counter(
      'caudal_schedule_failures_total',
      'Failed schedule runs of this process.',
      { schedule: options.schedules.map(({ name }) => name) },
    );
    options.metrics.gauge(
      'caudal_schedule_last_success_timestamp_seconds',
      'Unix time of the last successful run known to this process, 0 before the first; use the maximum over all workers.',
      () =>
        options.schedules.map(({ name }) => ({
          labels: { schedule: name },
          value: this.#succeeded.get(name) ?? 0,
        })),
    );
  }

  start(): void {
    this.#starting = this.#start();
  }

  /** Resolves when the active runs are done or returned to the queue. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#starting;
    await this.#polling;
    await this.#boss
      ?.stop({ graceful: true, timeout: STOP_WITHIN_MS })
      .catch((error: unknown) =>
        this.#options.log.warn(
          { code: 'schedules_stop_failed', ...errorFields(error) },
          'failed to stop schedules cleanly',
        ),
      );
  }

  async #start(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const boss = this.#newBoss();
      try {
        await boss.start();
        await this.#registerWorkers(boss);
        this.#boss = boss;
        this.#options.failures.succeeded('start_schedules');
        this.#polling = this.#poll(boss);
        return;
      } catch (error) {
        this.#options.failures.failed('start_schedules', databaseFailure(error));
        await boss.stop({ graceful: false }).catch(() => undefined);
        await sleep(START_RETRY_MS, null, { signal }).catch(() => undefined);
      }
    }
  }

  #newBoss(): PgBoss {
    const settings = {
      connectionString: this.#options.systemUrl,
      application_name: 'caudal-schedules',
      // Schedules contain no payment data: their commits do not wait for a standby, so a missing standby cannot block them.
      options:
        '-c timezone=UTC -c jit=off -c synchronous_commit=local -c idle_in_transaction_session_timeout=30000',
      // Passed on to pg: a silent connection times out.
      query_timeout: 15_000,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      max: this.#options.connections,
      schema: JOBS_SCHEMA,
      // `migrate` creates the tables; the workers' database role may not.
      migrate: false,
      createSchema: false,
      reindex: false,
      monitorVacuum: false,
      // With the heartbeat timeout of ten seconds, another worker takes the run of a killed worker within half a minute.
      superviseIntervalSeconds: 5,
      monitorIntervalSeconds: 5,
      cronMonitorIntervalSeconds: 10,
      cronWorkerIntervalSeconds: 5,
      // Dependencies between jobs are not used.
      flowIntervalSeconds: 3600,
    };
    const boss = new PgBoss(settings);
    boss.on('error', (error: unknown) =>
      this.#options.failures.failed('run_schedules', databaseFailure(error)),
    );
    boss.on('warning', ({ message }) =>
      this.#options.log.warn({ code: 'pg_boss_warning', reason: message }, 'pg-boss warning'),
    );
    return boss;
  }

  async #registerWorkers(boss: PgBoss): Promise<void> {
    for (const [name, at] of await lastSuccesses(this.#options.db)) this.#succeeded.set(name, at);
    for (const { name } of this.#options.schedules) {
      // pg-boss would poll a missing queue forever.
      if (!(await boss.getQueue(name)))
        throw new Error(`schedule ${name} is not in the database: run \`caudal migrate\``);
      const work = this.#options.work[name];
      if (await work.dueAtStart?.()) await boss.send(name);
      const options = { pollingIntervalSeconds: BOSS_POLLS_EVERY_SECONDS, heartbeatRefreshSeconds: 3 };
      const worker = await boss.work(name, options, async ([job]) => {
        if (job) await this.#run(name, work, AbortSignal.any([job.signal, this.#stopping.signal]));
      });
      this.#workers.set(name, worker);
    }
  }

  /** Polls all queues with one statement; pg-boss then fetches the run. */
  async #poll(boss: PgBoss): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        for (const name of await dueQueues(this.#options.db)) {
          const worker = this.#workers.get(name);
          if (worker !== undefined) boss.notifyWorker(worker);
        }
        this.#options.failures.succeeded('run_schedules');
      } catch (error) {
        this.#options.failures.failed('run_schedules', error);
      }
      await sleep(POLL_EVERY_MS, null, { signal }).catch(() => undefined);
    }
  }

  async #run(name: string, work: ScheduleWork, signal: AbortSignal): Promise<void> {
    const failure = await work.run(signal).then(
      () => null,
      (error: unknown) => errorFields(error),
    );
    if (!failure) {
      this.#succeeded.set(name, realSeconds());
      return;
    }
    this.#failures.add({ schedule: name });
    this.#options.log.error(
      { code: 'schedule_run_failed', operation: name, ...failure },
      'schedule run failed',
    );
    // pg-boss stores the thrown error, and a PostgreSQL message may contain personal data.
    throw new Error('run failed; see the worker log');
  }
}

/** pg-boss emits connection errors unchanged, some of them as plain objects. */
function databaseFailure(emitted: unknown): unknown {
  if (isDatabaseError(emitted) || typeof emitted !== 'object' || emitted === null) return emitted;
  const error = emitted instanceof Error ? emitted : Object.assign(new Error('unnamed'), emitted);
  const { code } = error as Error & { readonly code?: unknown };
  const lost =
    (typeof code === 'string' && /^(?:E[A-Z]+|08...|53...|57P..)$/.test(code)) ||
    /\b(?:terminated|timeout)\b/i.test(error.message);
  return lost ? new ConnectionLost(error) : error;
}
