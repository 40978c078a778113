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

const TRY_AGAIN_MS = 3000;
/** Well within the time a process has to stop; a run that takes longer is failed and tried again by another worker. */
const STOP_WITHIN_MS = 10_000;
const POLL_EVERY_MS = 2000;
/** pg-boss polls each queue by a statement of its own; that is left for the case that ours fails. */
const BOSS_POLLS_EVERY_SECONDS = 60;

export interface ScheduleWork {
  /** Does the run; ends early when the signal says so, since another run comes. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Whether a starting worker asks for a run at once. */
  readonly dueAtStart?: () => Promise<boolean>;
}

interface SchedulesOptions<Name extends string> {
  readonly systemUrl: string;
  /** Most connections that pg-boss may take. */
  readonly connections: number;
  readonly db: SystemDb;
  readonly schedules: readonly (Schedule & { readonly name: Name })[];
  readonly work: Readonly<Record<Name, ScheduleWork>>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: FailureLog;
}

/**
 * Runs the schedules of the catalogue in a worker process, by pg-boss. Whatever happens to the database, the process
 * stays: pg-boss's polls fail until it is back, and a start that failed is tried again.
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
      'Runs of schedules that failed in this process.',
    );
    options.metrics.gauge(
      'caudal_schedule_last_success_timestamp_seconds',
      'When a run last succeeded, in real time, as far as this process knows: take the newest over all workers.',
      () => new Map([...this.#succeeded].map(([name, at]) => [`{schedule="${name}"}`, at])),
    );
  }

  start(): void {
    this.#starting = this.#start();
  }

  /** Resolves when the runs under way are done or given back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#starting;
    await this.#polling;
    await this.#boss
      ?.stop({ graceful: true, timeout: STOP_WITHIN_MS })
      .catch((error: unknown) =>
        this.#options.log.warn(errorFields(error), 'the schedules did not stop in order'),
      );
  }

  async #start(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const boss = this.#newBoss();
      try {
        await boss.start();
        await this.#takeUp(boss);
        this.#boss = boss;
        this.#options.failures.succeeded('start_schedules');
        this.#polling = this.#poll(boss);
        return;
      } catch (error) {
        this.#options.failures.failed('start_schedules', databaseFailure(error));
        await boss.stop({ graceful: false }).catch(() => undefined);
        await sleep(TRY_AGAIN_MS, null, { signal }).catch(() => undefined);
      }
    }
  }

  #newBoss(): PgBoss {
    const settings = {
      connectionString: this.#options.systemUrl,
      application_name: 'caudal-schedules',
      // Schedules hold no payment: their commits do not wait for a standby, so that none is left pending without an answer.
      options:
        '-c timezone=UTC -c jit=off -c synchronous_commit=local -c idle_in_transaction_session_timeout=30000',
      // Beyond pg-boss's own options, handed on to pg: a connection that went silent is given up.
      query_timeout: 15_000,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      max: this.#options.connections,
      schema: JOBS_SCHEMA,
      // Tables are made by `migrate`; the role of workers may not.
      migrate: false,
      createSchema: false,
      reindex: false,
      monitorVacuum: false,
      // Together with the queues' silence of ten seconds: a killed worker's run is another's within half a minute.
      superviseIntervalSeconds: 5,
      monitorIntervalSeconds: 5,
      cronMonitorIntervalSeconds: 10,
      cronWorkerIntervalSeconds: 5,
      // Dependencies between jobs, of which there are none.
      flowIntervalSeconds: 3600,
    };
    const boss = new PgBoss(settings);
    boss.on('error', (error: unknown) =>
      this.#options.failures.failed('run_schedules', databaseFailure(error)),
    );
    boss.on('warning', ({ message }) => this.#options.log.warn({ reason: message }, 'pg-boss warns'));
    return boss;
  }

  async #takeUp(boss: PgBoss): Promise<void> {
    for (const [name, at] of await lastSuccesses(this.#options.db)) this.#succeeded.set(name, at);
    for (const { name } of this.#options.schedules) {
      // pg-boss would poll a queue that is not there for ever.
      if (!(await boss.getQueue(name)))
        throw new Error(`the schedule ${name} is not in the database: run the role "migrate"`);
      const work = this.#options.work[name];
      if (await work.dueAtStart?.()) await boss.send(name);
      const options = { pollingIntervalSeconds: BOSS_POLLS_EVERY_SECONDS, heartbeatRefreshSeconds: 3 };
      const worker = await boss.work(name, options, async ([job]) => {
        if (job) await this.#run(name, work, AbortSignal.any([job.signal, this.#stopping.signal]));
      });
      this.#workers.set(name, worker);
    }
  }

  /** One statement for all queues; pg-boss takes the run. */
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
    const fault = await work.run(signal).then(
      () => null,
      (error: unknown) => errorFields(error),
    );
    if (!fault) {
      this.#succeeded.set(name, realSeconds());
      return;
    }
    this.#failures.add({ schedule: name });
    this.#options.log.error({ operation: name, ...fault }, 'a run of a schedule failed');
    // pg-boss stores what it is thrown, and a message of PostgreSQL may quote personal data.
    throw new Error('the run failed; the log of the worker says why');
  }
}

/** pg-boss emits errors of its connections as they are, and some of them as plain objects. */
function databaseFailure(fault: unknown): unknown {
  if (isDatabaseError(fault) || typeof fault !== 'object' || fault === null) return fault;
  const error = fault instanceof Error ? fault : Object.assign(new Error('unnamed'), fault);
  const { code } = error as Error & { readonly code?: unknown };
  const lost =
    (typeof code === 'string' && /^(?:E[A-Z]+|08...|53...|57P..)$/.test(code)) ||
    /\b(?:terminated|timeout)\b/i.test(error.message);
  return lost ? new ConnectionLost(error) : error;
}
