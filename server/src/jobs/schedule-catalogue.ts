/** What runs by the clock. Work that belongs to a payment is never here: it is due in its own row. */
export interface Schedule {
  readonly name: string;
  /** Five fields, read in `timezone`. */
  readonly cron: string;
  readonly timezone: string;
  /** After a time in which no worker lived: `once` makes up for the latest run that was missed. */
  readonly missed: 'skip' | 'once';
  readonly retries: number;
  /** Before the first retry, of a run that failed or whose worker died; doubled each time, up to ten minutes. */
  readonly retryAfterSeconds: number;
  /** A run that takes longer counts as failed. One whose process died is known by its silence, much sooner. */
  readonly withinSeconds: number;
  readonly why: string;
}

const BOGOTA = 'America/Bogota';

export const SCHEDULES = [
  {
    name: 'settlement',
    cron: '* * * * *',
    timezone: BOGOTA,
    // What is left is due in its rows: the next minute finds it.
    missed: 'skip',
    retries: 3,
    retryAfterSeconds: 1,
    withinSeconds: 300,
    why: 'makes the money of payins available once it has waited long enough',
  },
  {
    name: 'subtotals',
    cron: '7 * * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 3,
    retryAfterSeconds: 1,
    withinSeconds: 300,
    why: 'closes the past of shared accounts, so that their sums read only what came since',
  },
  {
    name: 'bank-list',
    // Before people pay and after PSE's night work.
    cron: '10 3 * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 12,
    retryAfterSeconds: 1,
    withinSeconds: 60,
    why: 'asks PSE which banks it offers today',
  },
  {
    name: 'housekeeping',
    cron: '*/10 * * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 3,
    retryAfterSeconds: 1,
    withinSeconds: 300,
    why: 'makes the coming months and lets old idempotency keys and tokens go',
  },
  {
    name: 'ledger-verify',
    cron: '40 2 * * *',
    timezone: BOGOTA,
    missed: 'once',
    retries: 1,
    retryAfterSeconds: 1,
    withinSeconds: 3600,
    why: 'recomputes the books; one that does not add up is a failed run, an error in the log and a metric',
  },
] as const satisfies readonly Schedule[];

export type ScheduleName = (typeof SCHEDULES)[number]['name'];
