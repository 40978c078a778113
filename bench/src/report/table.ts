import { type Metric, valueText } from '../metric.ts';
import type { Earlier } from './report.ts';
import { ELSEWHERE, SCOREBOARD } from './scoreboard.ts';

interface Row {
  readonly id: string;
  readonly value: string;
  readonly target: string;
  readonly verdict: 'held' | 'MISSED' | '';
  readonly says: string;
}

/**
 * Every line of the scoreboard in its order, then what else was measured; those that were not, as an earlier run found them,
 * or why there is no figure.
 */
export function tableRows(
  lines: readonly Metric[],
  failures: ReadonlyMap<string, string>,
  earlier: ReadonlyMap<string, Earlier> = new Map(),
): Row[] {
  const known = new Set(SCOREBOARD.map(({ id }) => id));
  const others = lines.filter(({ id }) => !known.has(id)).map(measuredRow);
  const rows = SCOREBOARD.flatMap(({ id, says, target }) => {
    const measured = lines.filter((line) => line.id === id).map(measuredRow);
    if (measured.length > 0) return measured;
    const failure = failures.get(id);
    const before = failure === undefined ? earlier.get(id) : undefined;
    if (before) return before.lines.map((line) => earlierRow(line, before.conditions));
    const why = failure === undefined ? (ELSEWHERE[id] ?? 'not measured in this run') : `failed: ${failure}`;
    return [
      {
        id,
        value: '-',
        target,
        verdict: failure === undefined ? '' : 'MISSED',
        says: `${says} (${why})`,
      } as const,
    ];
  });
  return [...rows, ...others];
}

function earlierRow(line: Metric, { at, commit }: Earlier['conditions']): Row {
  return { ...measuredRow(line), says: `${line.says} (at ${at.slice(0, 16)}, commit ${commit})` };
}

function measuredRow(line: Metric): Row {
  return {
    id: line.id,
    value: `${valueText(line.value)}${line.unit === undefined ? '' : ` ${line.unit}`}`,
    target: String(line.target),
    verdict: line.holds ? 'held' : 'MISSED',
    says: line.says,
  };
}

export function tableText(rows: readonly Row[]): string {
  const columns = ['id', 'value', 'target', 'verdict', 'says'] as const;
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
