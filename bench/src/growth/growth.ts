import { type Metric, metricText } from '../metric.ts';
import { benchChurn } from './churn.ts';
import { benchCreates } from './creates.ts';
import { type Cluster, type GrownDatabase, growDatabase, serve } from './database.ts';
import { benchDetach } from './detach.ts';
import { benchPages, type Side } from './pages.ts';

export const GROWTH_PARTS = ['pages', 'creates', 'detach', 'churn'] as const;
export type GrowthPart = (typeof GROWTH_PARTS)[number];

export interface GrowthOptions {
  /** Payins in the large database. */
  readonly rows: number;
  readonly churnMinutes: number;
  readonly only?: readonly GrowthPart[];
  /** A short trial in seconds instead of minutes, with too few samples for conclusions. */
  readonly brief?: boolean;
  /** Keep the large database for another run on the same cluster. */
  readonly keep?: boolean;
}

const FEW_ROWS = 10_000;
/** Two of them are older than the retention period. */
const MONTHS = 8;
const ORGANIZATIONS = 10;
const CHURN_PER_SECOND = 50;

/** P3, P4, G1 (months detached under load) and G2 (an hour of churn), each on its own databases in the cluster. */
export async function benchGrowth(cluster: Cluster, options: GrowthOptions): Promise<Metric[]> {
  const { rows, churnMinutes, only = GROWTH_PARTS, brief = false, keep = false } = options;
  const grow = (name: string, howMany: number) =>
    growDatabase(cluster, name, { rows: howMany, months: MONTHS, organizations: ORGANIZATIONS }, console.log);
  const metrics: Metric[] = [];
  const add = (more: readonly Metric[]) => {
    for (const metric of more) console.log(metricText(metric));
    metrics.push(...more);
  };
  const pages = (small: Side, large: Side) =>
    benchPages(small, large, { pagesEach: brief ? 40 : 500, perSecond: 100 });
  const creates = (empty: Side, large: Side) =>
    benchCreates(empty, large, brief ? { rounds: 1, seconds: 1 } : { rounds: 5, seconds: 4 });
  const beside = async (name: string, howMany: number, large: Side, work: typeof pages) => {
    const database = await grow(name, howMany);
    await withApi(database, async (side) => add(await work(side, large)));
    await database.drop();
  };
  if (only.some((part) => part !== 'churn')) {
    const grown = await grow('growth_large', rows);
    await withApi(grown, async (large) => {
      if (only.includes('pages')) await beside('growth_small', FEW_ROWS, large, pages);
      if (only.includes('creates')) await beside('growth_empty', 0, large, creates);
      if (only.includes('detach')) add(await benchDetach(large));
    });
    await (keep ? grown.close() : grown.drop());
  }
  if (only.includes('churn')) {
    const database = await grow('growth_churn', 0);
    add(await benchChurn(cluster, database, { minutes: churnMinutes, perSecond: CHURN_PER_SECOND }));
    await database.drop();
  }
  return metrics;
}

/** Runs an API process for the database during a measurement. */
async function withApi(database: GrownDatabase, work: (side: Side) => Promise<void>): Promise<void> {
  const api = await serve(database);
  try {
    await work({ database, api });
  } finally {
    await api.stop();
  }
}
