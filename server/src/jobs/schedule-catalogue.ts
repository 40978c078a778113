/** A cron schedule. Work of a payment is never scheduled here: its own row has the due time. */
export interface Schedule {
  readonly name: string;
  /** Five fields, read in `timezone`. */
  readonly cron: string;
  readonly timezone: string;
  /** After a period without workers: `once` runs the latest missed run. */
  readonly missed: 'skip' | 'once';
  readonly retries: number;
  /** Delay before the first retry of a run that failed or whose worker died; doubled each time, up to ten minutes. */
  readonly retryAfterSeconds: number;
  /** A run that takes longer counts as failed. A run whose process died is detected much sooner by its missing heartbeat. */
  readonly timeoutSeconds: number;
  readonly description: string;
}

const BOGOTA = 'America/Bogota';

export const SCHEDULES = [
  {
    name: 'settlement',
    cron: '* * * * *',
    timezone: BOGOTA,
    // The remaining work has due times in its rows: the next run finds it.
    missed: 'skip',
    retries: 3,
    retryAfterSeconds: 1,
    timeoutSeconds: 300,
    description: 'moves payin money from pending to available after the settlement delay',
  },
  {
    name: 'subtotals',
    cron: '7 * * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 3,
    retryAfterSeconds: 1,
    timeoutSeconds: 300,
    description: 'rolls up subtotals of shared accounts, so that their balances read only recent transfers',
  },
  {
    name: 'bank-list',
    // Before payers are active and after PSE's nightly maintenance.
    cron: '10 3 * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 12,
    retryAfterSeconds: 1,
    timeoutSeconds: 60,
    description: 'refreshes the list of banks from PSE',
  },
  {
    name: 'housekeeping',
    cron: '*/10 * * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 3,
    retryAfterSeconds: 1,
    timeoutSeconds: 300,
    description: 'creates upcoming monthly partitions and purges expired idempotency keys and tokens',
  },
  {
    name: 'data-keys',
    cron: '* * * * *',
    timezone: BOGOTA,
    // A rotation has its due time and position in its row: the next run continues it.
    missed: 'skip',
    retries: 3,
    retryAfterSeconds: 1,
    timeoutSeconds: 300,
    description: 'rotates exhausted data keys and encrypts values of older data keys again',
  },
  {
    name: 'personal-data',
    cron: '20 3 * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 3,
    retryAfterSeconds: 60,
    timeoutSeconds: 3600,
    description: 'erases the personal data of payments that are older than the legal retention',
  },
  {
    name: 'ledger-verify',
    cron: '40 2 * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 1,
    retryAfterSeconds: 1,
    timeoutSeconds: 3600,
    description: 'verifies the ledger; an inconsistency fails the run, logs an error and sets a metric',
  },
] as const satisfies readonly Schedule[];

export type ScheduleName = (typeof SCHEDULES)[number]['name'];
