import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { deadline } from './deadline.ts';
import type { HistogramSample, MetricFamily, Sample } from './metric-family.ts';
import { renderFamilies } from './metrics-text.ts';

/**
 * Counters, gauges and histograms of one process, read as data or in the Prometheus text format. Our own implementation,
 * because it is short and the usual package has had no release in years (docs/decisions/0002-dependencies.md).
 */
export type Labels = Readonly<Record<string, string | number>>;

/**
 * The value of a gauge: one number, or one per set of labels; the keys of a map are labels as text, `{rail="PSE"}`.
 * Null: not known now, so the metric has no sample.
 */
export type Reading =
  | number
  | null
  | ReadonlyMap<string, number>
  | readonly { readonly labels: Labels; readonly value: number }[];

/** Values that start at zero: all combinations of the listed label values, or a list of combinations. */
export type DeclaredLabels = Readonly<Record<string, readonly (string | number)[]>> | readonly Labels[];

const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** More frequent scrapes return the values of the last refresh. */
const REFRESH_EVERY_MS = 2000;
/** A scrape waits at most this long for a refresh, then returns the values of the last one. */
const REFRESH_WITHIN_MS = 2000;

export class Metrics {
  readonly #series: Series[] = [];
  readonly #refreshers: (() => Promise<void>)[] = [];
  #refreshing: Promise<unknown> | null = null;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param declared label values that are known in advance; their series start at zero, so that `increase()` sees the first
   *   event. `{}` declares the series without labels.
   */
  counter(name: string, help: string, declared: DeclaredLabels = []): Counter {
    return this.#add(new Counter(name, help, declared));
  }

  /** A gauge is read when it is scraped. */
  gauge(name: string, help: string, read: () => Reading): void {
    this.#add(new Gauge(name, help, 'gauge', read));
  }

  /** A counter that is kept elsewhere, such as the CPU time of the process, and read when it is scraped. */
  readCounter(name: string, help: string, read: () => Reading): void {
    this.#add(new Gauge(name, help, 'counter', read));
  }

  histogram(
    name: string,
    help: string,
    buckets: readonly number[] = LATENCY_BUCKETS,
    declared: DeclaredLabels = [],
  ): Histogram {
    return this.#add(new Histogram(name, help, buckets, declared));
  }

  /** Runs before a scrape, for gauges that need a query: without scrapes they cost nothing. It must not reject. */
  beforeScrape(refresh: () => Promise<void>): void {
    this.#refreshers.push(refresh);
  }

  /** All metrics in the Prometheus text format, after a refresh. */
  async scrape(): Promise<string> {
    await this.refresh();
    return this.render();
  }

  /** Runs the refreshers, unless they ran a moment ago. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#refreshedAt >= REFRESH_EVERY_MS)
      this.#refreshing ??= Promise.all(this.#refreshers.map((refresh) => refresh())).finally(() => {
        this.#refreshing = null;
        this.#refreshedAt = performance.now();
      });
    if (this.#refreshing)
      await Promise.race([this.#refreshing, sleep(deadline(REFRESH_WITHIN_MS), null, { ref: false })]);
  }

  render(): string {
    return renderFamilies(this.read());
  }

  /** All metrics as data, without a refresh. */
  read(): MetricFamily[] {
    return this.#series.map((series) => series.read());
  }

  #add<T extends Series>(series: T): T {
    if (this.#series.some((other) => other.name === series.name))
      throw new Error(`metric ${series.name} is already registered`);
    this.#series.push(series);
    return series;
  }
}

abstract class Series {
  readonly name: string;
  readonly help: string;
  readonly type: MetricFamily['type'];

  constructor(name: string, help: string, type: MetricFamily['type']) {
    this.name = name;
    this.help = help;
    this.type = type;
  }

  read(): MetricFamily {
    const { name, help, type } = this;
    return { name, help, type, samples: this.samples(), histograms: this.histograms() };
  }

  protected samples(): readonly Sample[] {
    return [];
  }

  protected histograms(): readonly HistogramSample[] {
    return [];
  }
}

export class Counter extends Series {
  readonly #values = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(name: string, help: string, declared: DeclaredLabels) {
    super(name, help, 'counter');
    for (const labels of combinations(declared)) this.add(labels, 0);
  }

  add(labels: Labels = {}, by = 1): void {
    const key = keyOf(labels);
    const entry = this.#values.get(key);
    if (entry) entry.value += by;
    else this.#values.set(key, { labels, value: by });
  }

  protected override samples(): Sample[] {
    return [...this.#values.values()].map(({ labels, value }) => ({ labels: asText(labels), value }));
  }
}

class Gauge extends Series {
  readonly #read: () => Reading;

  constructor(name: string, help: string, type: 'counter' | 'gauge', read: () => Reading) {
    super(name, help, type);
    this.#read = read;
  }

  protected override samples(): Sample[] {
    const reading = this.#read();
    if (reading === null) return [];
    if (typeof reading === 'number') return [{ labels: {}, value: reading }];
    if (Array.isArray(reading))
      return reading.map(({ labels, value }) => ({ labels: asText(labels), value }));
    return [...(reading as ReadonlyMap<string, number>)].map(([text, value]) => ({
      labels: parseLabels(text),
      value,
    }));
  }
}

export class Histogram extends Series {
  readonly #buckets: readonly number[];
  readonly #values = new Map<string, HistogramSeries>();

  constructor(name: string, help: string, buckets: readonly number[], declared: DeclaredLabels) {
    super(name, help, 'histogram');
    this.#buckets = buckets;
    for (const labels of combinations(declared)) this.series(labels);
  }

  /** @param times how many observations of this value to count */
  observe(value: number, labels: Labels = {}, times = 1): void {
    this.series(labels).observe(value, times);
  }

  /** The series of these labels; callers on a hot path keep it, because looking it up costs more than observing. */
  series(labels: Labels): HistogramSeries {
    const key = keyOf(labels);
    let series = this.#values.get(key);
    if (!series) {
      series = new HistogramSeries(asText(labels), this.#buckets);
      this.#values.set(key, series);
    }
    return series;
  }

  protected override histograms(): HistogramSample[] {
    return [...this.#values.values()].map((series) => series.read());
  }
}

export class HistogramSeries {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #edges: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(labels: Readonly<Record<string, string>>, edges: readonly number[]) {
    this.#labels = labels;
    this.#edges = edges;
    this.#counts = edges.map(() => 0);
  }

  observe(value: number, times = 1): void {
    this.#sum += value * times;
    this.#count += times;
    const edges = this.#edges;
    let bucket = 0;
    while (bucket < edges.length && value > (edges[bucket] as number)) bucket += 1;
    if (bucket < edges.length) this.#counts[bucket] = (this.#counts[bucket] as number) + times;
  }

  read(): HistogramSample {
    let below = 0;
    const buckets = this.#edges.map((le, index) => {
      below += this.#counts[index] ?? 0;
      return { le, count: below };
    });
    return { labels: this.#labels, buckets, sum: this.#sum, count: this.#count };
  }
}

function combinations(declared: DeclaredLabels): readonly Labels[] {
  if (Array.isArray(declared)) return declared as readonly Labels[];
  return Object.entries(declared as Readonly<Record<string, readonly (string | number)[]>>).reduce<Labels[]>(
    (sets, [name, values]) => sets.flatMap((labels) => values.map((value) => ({ ...labels, [name]: value }))),
    [{}],
  );
}

/** Identifies a set of labels; callers name them in the same order each time. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${name}\u0000${labels[name]}\u0000`;
  return key;
}

function asText(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
}
