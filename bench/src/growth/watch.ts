import { readFileSync } from 'node:fs';
import type { GrownDatabase } from './database.ts';

/** Statistics of one table at one time; for a partitioned table, of the current month. */
interface TableSample {
  readonly table: string;
  readonly live: number;
  readonly dead: number;
  readonly updates: number;
  /** HOT updates, which did not touch the indexes. */
  readonly hot: number;
  readonly vacuums: number;
  readonly tableBytes: number;
  readonly indexBytes: number;
}

export interface Sample {
  readonly seconds: number;
  readonly tables: readonly TableSample[];
  /** Resident memory in bytes, by process. */
  readonly memory: Readonly<Record<string, number>>;
}

const TABLES = `
  select regexp_replace(s.relname, '_\\d{6}$', '') as "table", s.n_live_tup::float8 as live, s.n_dead_tup::float8 as dead,
    s.n_tup_upd::float8 as updates, s.n_tup_hot_upd::float8 as hot, s.autovacuum_count::float8 as vacuums,
    pg_table_size(s.relid)::float8 as "tableBytes", pg_indexes_size(s.relid)::float8 as "indexBytes"
  from pg_stat_user_tables s
  where s.schemaname = 'caudal' and s.n_tup_ins > 0
    and (s.relname !~ '_\\d{6}$' or right(s.relname, 6) = to_char(caudal.now() at time zone 'UTC', 'YYYYMM')) order by 1`;

export async function takeSample(
  database: GrownDatabase,
  startedAt: number,
  pids: Readonly<Record<string, number>>,
): Promise<Sample> {
  const tables = await database.query<TableSample>(TABLES);
  const memory = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, residentBytes(pid)]));
  return { seconds: (performance.now() - startedAt) / 1000, tables, memory };
}

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** Mean of the last third of a run ÷ mean of the middle third: 1 is flat. The first third is warm-up. */
export function computeGrowth(
  samples: readonly Sample[],
  figure: (sample: Sample) => number | null,
): number | null {
  const third = Math.floor(samples.length / 3);
  const mean = (part: readonly Sample[]) => {
    const figures = part.map(figure).filter((each) => each !== null);
    return figures.length === 0 ? null : figures.reduce((sum, each) => sum + each, 0) / figures.length;
  };
  const [middle, last] = [mean(samples.slice(third, 2 * third)), mean(samples.slice(2 * third))];
  return middle === null || last === null || middle === 0 ? null : last / middle;
}

/** Smaller tables are ignored: a single page would look like growth. */
const MIN_TABLE_BYTES = 1_000_000;

export function bytesPerRow(sample: Sample, table: string): number | null {
  const row = sample.tables.find((each) => each.table === table);
  if (!row || row.live === 0 || row.tableBytes < MIN_TABLE_BYTES) return null;
  return (row.tableBytes + row.indexBytes) / row.live;
}
