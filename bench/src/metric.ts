/** One line of the scoreboard as data: what a bench returns, the table prints and the report draws. */
export interface Metric {
  /** Of the scoreboard: `P1`. A bench may return several of one name. */
  readonly id: string;
  /** What the value is. */
  readonly says: string;
  readonly value: number;
  readonly unit?: string;
  /** `>= 1`, `<= 50`; a bare number where the sense is plain. */
  readonly target: string | number;
  readonly holds: boolean;
  /** What the value was made of, and what the reader should know beside it. */
  readonly details: string | Readonly<Record<string, unknown>>;
  /** For programs: what the capacity page is made of. */
  readonly figures?: Readonly<Record<string, number>>;
  readonly samples?: Samples;
}

/** What there is to draw. */
interface Samples {
  readonly latency?: readonly Curve[];
  readonly perSecond?: readonly Series[];
  readonly bars?: readonly Bar[];
}

export interface Curve {
  readonly name: string;
  /** A quantile and its milliseconds, rising. */
  readonly points: readonly (readonly [quantile: number, ms: number])[];
}

export interface Series {
  readonly name: string;
  /** One for each second. */
  readonly values: readonly number[];
}

export interface Bar {
  readonly name: string;
  readonly value: number;
}

export type LineParts = Omit<Metric, 'target' | 'holds'>;

export function atLeast(target: number, line: LineParts): Metric {
  return { ...line, target: `>= ${target}`, holds: line.value >= target };
}

export function atMost(target: number, line: LineParts): Metric {
  return { ...line, target: `<= ${target}`, holds: line.value <= target };
}

/** `P1 1.04 creations … ; target >= 1 (held)` */
export function lineText(line: Metric): string {
  const value = `${valueText(line.value)}${line.unit === undefined ? '' : ` ${line.unit}`}`;
  const details = detailsText(line.details);
  return `${line.id} ${value} ${line.says}${details === '' ? '' : `; ${details}`}; target ${line.target} (${line.holds ? 'held' : 'MISSED'})`;
}

/** Three figures that count: more would promise what a run on a shared machine cannot hold. */
export function valueText(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export function detailsText(details: Metric['details']): string {
  if (typeof details === 'string') return details;
  return Object.entries(details)
    .map(([name, value]) => `${name} ${detailText(value)}`)
    .join(', ');
}

function detailText(value: unknown): string {
  if (typeof value === 'number') return valueText(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
