import type { Totals } from './database-totals.ts';
import type { Spent } from './processor-time.ts';

/** Cost of one item: CPU milliseconds per component, bytes and commits. */
export interface Cost {
  readonly apiMs: number;
  readonly workerMs: number;
  readonly postgresMs: number;
  readonly walBytes: number;
  readonly diskBytes: number;
  readonly commits: number;
}

export function costPerItem(count: number, spent: Spent, before: Totals, after: Totals): Cost {
  return {
    apiMs: (1000 * spent.api) / count,
    workerMs: (1000 * spent.worker) / count,
    postgresMs: (1000 * spent.postgres) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
    diskBytes: (after.diskBytes - before.diskBytes) / count,
    commits: (after.commits - before.commits) / count,
  };
}

/** CPU time of Caudal and the database, without the simulated rail and the webhook receiver. */
export function totalCpuMs({ apiMs, workerMs, postgresMs }: Cost): number {
  return apiMs + workerMs + postgresMs;
}

export function costText(cost: Cost): string {
  return `${totalCpuMs(cost).toFixed(2)} ms of CPU each (API ${cost.apiMs.toFixed(2)}, worker ${cost.workerMs.toFixed(2)}, PostgreSQL ${cost.postgresMs.toFixed(2)}), ${cost.walBytes.toFixed(0)} bytes of WAL, ${cost.diskBytes.toFixed(0)} of disk, ${cost.commits.toFixed(3)} commits`;
}
