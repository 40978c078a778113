/** One metric of the scoreboard, as returned by a bench, printed in the table and drawn in the report. */
export interface Metric {
  /** Id in the scoreboard, for example `P1`. A bench may return several metrics with the same id. */
  readonly id: string;
  /** What the value measures. */
  readonly description: string;
  readonly value: number;
  readonly unit?: string;
  /** `>= 1`, `<= 50`; a plain number where the direction is obvious. */
  readonly target: string | number;
  readonly holds: boolean;
  /** The inputs of the value and additional context for the reader. */
  readonly details: string | Readonly<Record<string, unknown>>;
  /** Machine-readable values for the capacity page. */
  readonly figures?: Readonly<Record<string, number>>;
  readonly samples?: Samples;
}

/** Data for the plots. */
interface Samples {
  readonly latency?: readonly Curve[];
  readonly perSecond?: readonly Series[];
  readonly bars?: readonly Bar[];
}

export interface Curve {
  readonly name: string;
  /** Quantiles and their latency in milliseconds, ascending. */
  readonly points: readonly (readonly [quantile: number, ms: number])[];
}

export interface Series {
  readonly name: string;
  /** One value per second. */
  readonly values: readonly number[];
}

export interface Bar {
  readonly name: string;
  readonly value: number;
}

export type MetricParts = Omit<Metric, 'target' | 'holds'>;

export function atLeast(target: number, metric: MetricParts): Metric {
  return { ...metric, target: `>= ${target}`, holds: metric.value >= target };
}

export function atMost(target: number, metric: MetricParts): Metric {
  return { ...metric, target: `<= ${target}`, holds: metric.value <= target };
}

/** `P1 1.04 creations … ; target >= 1 (held)` */
export function metricText(metric: Metric): string {
  const value = `${valueText(metric.value)}${metric.unit === undefined ? '' : ` ${metric.unit}`}`;
  const details = detailsText(metric.details);
  return `${metric.id} ${value} ${metric.description}${details === '' ? '' : `; ${details}`}; target ${metric.target} (${metric.holds ? 'held' : 'MISSED'})`;
}

/** Three significant digits: more would suggest a precision that a shared machine does not have. */
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
