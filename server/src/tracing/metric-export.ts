import { ValueType } from '@opentelemetry/api';
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import type { Resource } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { realTime } from '../kit/clock.ts';
import type { MetricFamily } from '../kit/metric-family.ts';
import type { Metrics } from '../kit/metrics.ts';
import type { ExportHealth } from './export-health.ts';
import type { OtlpClient } from './otlp-client.ts';

type HrTime = [number, number];

interface Parts {
  readonly metrics: Metrics;
  readonly client: OtlpClient;
  readonly health: ExportHealth;
  readonly resource: Resource;
}

/** Exports the metrics that `/metrics` serves, under the same names, at an interval. */
export class MetricExport {
  readonly #parts: Parts;
  readonly #startTime = now();
  readonly #timer: NodeJS.Timeout;
  #exporting: Promise<void> | null = null;

  constructor(parts: Parts, everyMs: number) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.export(), everyMs);
    this.#timer.unref();
  }

  /** Never rejects. An export that still runs is not started again. */
  export(): Promise<void> {
    this.#exporting ??= this.#export()
      .catch((error: unknown) => this.#parts.health.failed(error instanceof Error ? error.name : 'unknown'))
      .finally(() => {
        this.#exporting = null;
      });
    return this.#exporting;
  }

  /** Exports the last values once more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#exporting;
    await this.export();
  }

  async #export(): Promise<void> {
    const { metrics, client, health, resource } = this.#parts;
    await metrics.refresh();
    const times = { startTime: this.#startTime, endTime: now() };
    const body = ProtobufMetricsSerializer.serializeRequest({
      resource,
      scopeMetrics: [
        { scope: { name: 'caudal' }, metrics: metrics.read().map((family) => toMetricData(family, times)) },
      ],
    });
    const result = await client.send('metrics', body ?? new Uint8Array());
    if (result.kind === 'accepted') health.succeeded();
    else health.failed(result.reason);
  }
}

function toMetricData(
  { name, help, type, samples, histograms }: MetricFamily,
  times: { readonly startTime: HrTime; readonly endTime: HrTime },
): MetricData {
  const common = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const dataPoints = samples.map(({ labels, value }) => ({ ...times, attributes: labels, value }));
  if (type === 'counter')
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
  return {
    ...common,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: histograms.map(({ labels, buckets, sum, count }) => ({
      ...times,
      attributes: labels,
      value: { buckets: toBuckets(buckets, count), sum, count },
    })),
  };
}

/** Prometheus counts cumulatively; OTLP counts each bucket, and the last one has no bound. */
function toBuckets(buckets: readonly { readonly le: number; readonly count: number }[], total: number) {
  const cumulative = [...buckets.map(({ count }) => count), total];
  return {
    boundaries: buckets.map(({ le }) => le),
    counts: cumulative.map((count, index) => count - (cumulative[index - 1] ?? 0)),
  };
}

function now(): HrTime {
  const ms = realTime().getTime();
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6];
}
