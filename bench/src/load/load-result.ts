import type { Curve } from '../metric.ts';

export interface LoadResult {
  /** Requests answered 201 during the measurement. */
  readonly requests: number;
  readonly failures: number;
  /** Start of the measurement in Unix milliseconds. */
  readonly startedAtUnixMs: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly latency: Curve['points'];
  /** Responses per second. */
  readonly overTime: readonly number[];
  /** CPU time of the generator itself. */
  readonly generatorCpuSeconds: number;
}

const QUANTILES = [
  0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999,
];

export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export function toCurve(sorted: readonly number[]): Curve['points'] {
  return QUANTILES.map((q) => [q, quantile(sorted, q)] as const);
}

/** Counts responses and the CPU time of this process between start and end. */
export class Tally {
  readonly #latencies: number[] = [];
  readonly #overTime: number[] = [];
  #failures = 0;
  #startedAt: number | null = null;
  #startedAtUnixMs = Number.NaN;
  #cpu = process.cpuUsage();

  start(): void {
    this.#startedAt = performance.now();
    this.#startedAtUnixMs = Date.now();
    this.#cpu = process.cpuUsage();
  }

  add(ms: number, ok: boolean): void {
    if (this.#startedAt === null) return;
    if (!ok) {
      this.#failures += 1;
      return;
    }
    this.#latencies.push(ms);
    const second = Math.floor((performance.now() - this.#startedAt) / 1000);
    this.#overTime[second] = (this.#overTime[second] ?? 0) + 1;
  }

  end(): LoadResult {
    const seconds = (performance.now() - (this.#startedAt ?? Number.NaN)) / 1000;
    const spent = process.cpuUsage(this.#cpu);
    this.#startedAt = null;
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    return {
      requests: sorted.length,
      failures: this.#failures,
      startedAtUnixMs: this.#startedAtUnixMs,
      seconds,
      perSecond: sorted.length / seconds,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: sorted.at(-1) ?? Number.NaN,
      latency: toCurve(sorted),
      overTime: Array.from({ length: Math.round(seconds) }, (_, second) => this.#overTime[second] ?? 0),
      generatorCpuSeconds: (spent.user + spent.system) / 1e6,
    };
  }
}
