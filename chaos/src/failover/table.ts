/** Result of one fault. */
export interface FaultResult {
  readonly title: string;
  /** Until another node held the leader key. */
  readonly electionMs: number;
  /** Longest time without an acknowledged creation. */
  readonly outageMs: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly executedTwice: number;
  /** Writes that were attempted on the old primary, bypassing HAProxy; none was acknowledged. */
  readonly refusedDirectWrites: number;
}

const COLUMNS = [
  'Fault',
  'n',
  'min',
  'median',
  'p95',
  'max',
  'Acknowledged',
  'Lost',
  'Payouts executed twice',
  'Direct writes refused',
];

/** Markdown with one row per kind of fault and one for all. */
export function formatTable(results: readonly FaultResult[], titles: readonly string[]): string {
  const rows = titles.flatMap((title) => {
    const same = results.filter((result) => result.title === title);
    return same.length === 0 ? [] : [formatRow(title, same)];
  });
  const lines = [
    COLUMNS,
    COLUMNS.map((_, index) => (index === 0 ? '---' : '---:')),
    ...rows,
    formatRow('all', results),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function formatRow(title: string, results: readonly FaultResult[]): string[] {
  const times = results.map(({ outageMs }) => outageMs);
  const sum = (get: (result: FaultResult) => number) =>
    results.reduce((total, result) => total + get(result), 0).toLocaleString('en-US');
  return [
    title,
    String(results.length),
    ...[0, 0.5, 0.95, 1].map((share) => `${(percentile(times, share) / 1000).toFixed(1)} s`),
    sum(({ acknowledged }) => acknowledged),
    sum(({ lost }) => lost),
    sum(({ executedTwice }) => executedTwice),
    sum(({ refusedDirectWrites }) => refusedDirectWrites),
  ];
}

/** The smallest value that this share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
