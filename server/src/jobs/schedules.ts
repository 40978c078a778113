import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import type { SystemDb } from '../db/system.ts';
import { monotonicMs, realSeconds } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Counter, Metrics } from '../kit/metrics.ts';
import { lastSuccesses } from './schedule.store.ts';
import type { Schedule } from './schedule-catalogue.ts';
import { JOBS_SCHEMA } from './schedule-schema.ts';

const TRY_AGAIN_MS = 3000;
/** Well within the time a process has to stop; a run that takes longer is failed and tried again by another worker. */
const STOP_WITHIN_MS = 10_000;
/** While the database is away every poll of pg-boss fails; one line in so long says as much as all of them. */
const COMPLAIN_EVERY_MS = 10_000;

export interface ScheduleWork {
  /** Does the run; ends early when the signal says so, since another run comes. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Whether a starting worker asks for a run at once. */
  readonly dueAtStart?: () => Promise<boolean>;
}

interface SchedulesOptions<Name extends string> {
  readonly systemUrl: string;
  readonly db: SystemDb;
  readonly schedules: readonly (Schedule & { readonly name: Name })[];
  readonly work: Readonly<Record<Name, ScheduleWork>>;
  readonly metrics: Metrics;
  readonly log: Log;
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
  #starting: Promise<void> | null = null;
  #complainedAt = Number.NEGATIVE_INFINITY;

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
        return;
      } catch (error) {
        this.#options.log.error(
          errorFields(error),
          'the schedules cannot start, they are tried again in a moment',
        );
        await boss.stop({ graceful: false }).catch(() => undefined);
        await sleep(TRY_AGAIN_MS, null, { signal }).catch(() => undefined);
      }
    }
  }

  #newBoss(): PgBoss {
    const settings = {
      connectionString: this.#options.systemUrl,
      application_name: 'caudal-schedules',
      options: '-c timezone=UTC -c idle_in_transaction_session_timeout=30000',
      // Beyond pg-boss's own options, handed on to pg: a connection that went silent is given up.
      query_timeout: 15_000,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      max: 3,
      schema: JOBS_SCHEMA,
      // Tables are made by `migrate`; the role of workers may not.
      migrate: false,
      createSchema: false,
      reindex: false,
      monitorVacuum: false,
      // Together with the queues' silence of ten seconds: a killed worker's run is another's within half a minute.
      superviseIntervalSeconds: 3,
      monitorIntervalSeconds: 3,
      cronMonitorIntervalSeconds: 10,
      cronWorkerIntervalSeconds: 1,
    };
    const boss = new PgBoss(settings);
    boss.on('error', (error: unknown) => this.#complain(faultFields(error)));
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
      await boss.work(name, { pollingIntervalSeconds: 2, heartbeatRefreshSeconds: 3 }, async ([job]) => {
        if (job) await this.#run(name, work, AbortSignal.any([job.signal, this.#stopping.signal]));
      });
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

  #complain(fields: ReturnType<typeof errorFields>): void {
    if (monotonicMs() - this.#complainedAt < COMPLAIN_EVERY_MS) return;
    this.#complainedAt = monotonicMs();
    this.#options.log.warn(fields, 'pg-boss could not do its part; it tries again');
  }
}

/** pg-boss turns some errors into plain objects before it tells of them. */
function faultFields(fault: unknown): ReturnType<typeof errorFields> {
  if (fault instanceof Error || typeof fault !== 'object' || fault === null) return errorFields(fault);
  return errorFields(Object.assign(new Error('unnamed'), fault));
}
