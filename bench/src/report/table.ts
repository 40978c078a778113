import { type Metric, valueText } from '../metric.ts';
import type { Conditions } from './conditions.ts';
import { MEASURED_ELSEWHERE, SCOREBOARD } from './scoreboard.ts';

/** A metric from the latest full run. All of them together take hours, so they are also measured in parts. */
export interface EarlierResult {
  readonly conditions: Conditions;
  readonly metrics: readonly Metric[];
}

interface Row {
  readonly id: string;
  readonly value: string;
  readonly target: string;
  readonly verdict: 'held' | 'MISSED' | '';
  readonly description: string;
}

/**
 * All metrics of the scoreboard in order, then other measured ones. A metric that was not measured shows the result of an
 * earlier run or the reason for its absence.
 */
export function tableRows(
  metrics: readonly Metric[],
  failures: ReadonlyMap<string, string>,
  earlier: ReadonlyMap<string, EarlierResult> = new Map(),
): Row[] {
  const known = new Set(SCOREBOARD.map(({ id }) => id));
  const others = metrics.filter(({ id }) => !known.has(id)).map(measuredRow);
  const rows = SCOREBOARD.flatMap(({ id, description, target }) => {
    const measured = metrics.filter((metric) => metric.id === id).map(measuredRow);
    if (measured.length > 0) return measured;
    const failure = failures.get(id);
    const before = failure === undefined ? earlier.get(id) : undefined;
    if (before) return before.metrics.map((metric) => earlierRow(metric, before.conditions));
    const why =
      failure === undefined ? (MEASURED_ELSEWHERE[id] ?? 'not measured in this run') : `failed: ${failure}`;
    return [
      {
        id,
        value: '-',
        target,
        verdict: failure === undefined ? '' : 'MISSED',
        description: `${description} (${why})`,
      } as const,
    ];
  });
  return [...rows, ...others];
}

function earlierRow(metric: Metric, { at, commit }: EarlierResult['conditions']): Row {
  return {
    ...measuredRow(metric),
    description: `${metric.description} (at ${at.slice(0, 16)}, commit ${commit})`,
  };
}

function measuredRow(metric: Metric): Row {
  return {
    id: metric.id,
    value: `${valueText(metric.value)}${metric.unit === undefined ? '' : ` ${metric.unit}`}`,
    target: String(metric.target),
    verdict: metric.holds ? 'held' : 'MISSED',
    description: metric.description,
  };
}

export function tableText(rows: readonly Row[]): string {
  const columns = ['id', 'value', 'target', 'verdict', 'description'] as const;
  const widths = columns.map((column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      columns
        .map((column, index) => row[column].padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
