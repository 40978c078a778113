import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Counters, gauges and histograms in the Prometheus text format. Our own implementation, because it is short and the
 * usual package has had no release in years (docs/decisions/0002-dependencies.md).
 */
type Labels = Readonly<Record<string, string | number>>;

/** A metric with its head and its current values. */
abstract class Series {
  readonly name: string;
  readonly #head: readonly string[];

  constructor(name: string, help: string, type: string) {
    this.name = name;
    this.#head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  }

  render(): string[] {
    return [...this.#head, ...this.values()];
  }

  abstract values(): string[];
}

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

  counter(name: string, help: string): Counter {
    return this.#add(new Counter(name, help));
  }

  /** A gauge is read when it is scraped. */
  gauge(name: string, help: string, read: () => number | Map<string, number>): void {
    this.#add(new Gauge(name, help, read));
  }

  /** Runs before a scrape, for gauges that need a query: without scrapes they cost nothing. It must not reject. */
  beforeScrape(refresh: () => Promise<void>): void {
    this.#refreshers.push(refresh);
  }

  histogram(name: string, help: string, buckets: readonly number[] = LATENCY_BUCKETS): Histogram {
    return this.#add(new Histogram(name, help, buckets));
  }

  async scrape(): Promise<string> {
    if (performance.now() - this.#refreshedAt >= REFRESH_EVERY_MS)
      this.#refreshing ??= Promise.all(this.#refreshers.map((refresh) => refresh())).finally(() => {
        this.#refreshing = null;
        this.#refreshedAt = performance.now();
      });
    if (this.#refreshing)
      await Promise.race([this.#refreshing, sleep(REFRESH_WITHIN_MS, null, { ref: false })]);
    return this.render();
  }

  render(): string {
    return `${this.#series.flatMap((series) => series.render()).join('\n')}\n`;
  }

  #add<T extends Series>(series: T): T {
    if (this.#series.some((other) => other.name === series.name))
      throw new Error(`metric ${series.name} is already registered`);
    this.#series.push(series);
    return series;
  }
}

export class Counter extends Series {
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    super(name, help, 'counter');
  }

  add(labels: Labels = {}, by = 1): void {
    const key = labelText(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  values(): string[] {
    return [...this.#values].map(([key, value]) => `${this.name}${key} ${value}`);
  }
}

class Gauge extends Series {
  readonly #read: () => number | Map<string, number>;

  constructor(name: string, help: string, read: () => number | Map<string, number>) {
    super(name, help, 'gauge');
    this.#read = read;
  }

  values(): string[] {
    const value = this.#read();
    if (typeof value === 'number') return [`${this.name} ${value}`];
    return [...value].map(([key, each]) => `${this.name}${key} ${each}`);
  }
}

export class Histogram extends Series {
  readonly #buckets: readonly number[];
  readonly #values = new Map<string, { counts: number[]; sum: number; count: number; labels: Labels }>();

  constructor(name: string, help: string, buckets: readonly number[]) {
    super(name, help, 'histogram');
    this.#buckets = buckets;
  }

  observe(value: number, labels: Labels = {}): void {
    const key = labelText(labels);
    let entry = this.#values.get(key);
    if (!entry) {
      entry = { counts: this.#buckets.map(() => 0), sum: 0, count: 0, labels };
      this.#values.set(key, entry);
    }
    entry.sum += value;
    entry.count += 1;
    const bucket = this.#buckets.findIndex((edge) => value <= edge);
    if (bucket >= 0) entry.counts[bucket] = (entry.counts[bucket] ?? 0) + 1;
  }

  values(): string[] {
    const lines: string[] = [];
    for (const { counts, sum, count, labels } of this.#values.values()) {
      let below = 0;
      for (const [index, edge] of this.#buckets.entries()) {
        below += counts[index] ?? 0;
        lines.push(`${this.name}_bucket${labelText({ ...labels, le: edge })} ${below}`);
      }
      lines.push(`${this.name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`);
      lines.push(
        `${this.name}_sum${labelText(labels)} ${sum}`,
        `${this.name}_count${labelText(labels)} ${count}`,
      );
    }
    return lines;
  }
}

function labelText(labels: Labels): string {
  let text = '';
  for (const name in labels) text += `${text === '' ? '' : ','}${name}="${escaped(String(labels[name]))}"`;
  return text === '' ? '' : `{${text}}`;
}

function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
