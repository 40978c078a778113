import { setTimeout as sleep } from 'node:timers/promises';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Log } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import { NO_TRACER, type Tracer } from '../kit/tracer.ts';
import { ExportHealth } from './export-health.ts';
import { MetricExport } from './metric-export.ts';
import { type CollectorAddress, OtlpClient } from './otlp-client.ts';
import { RequestSampler, type Sampling } from './sampler.ts';
import { SdkTracer } from './sdk-tracer.ts';
import { SpanQueue } from './span-queue.ts';

/** Time to send the last spans and metrics when the process stops. */
const CLOSE_WITHIN_MS = 2000;

export interface TelemetrySettings {
  readonly collector: CollectorAddress;
  /** Null: no traces. */
  readonly sampling: Sampling | null;
  /** Null: no metrics. */
  readonly metricsEveryMs: number | null;
  /** Attributes of the process: `service.name` and others. */
  readonly resource: Readonly<Record<string, string>>;
}

export interface Telemetry {
  readonly tracer: Tracer;
  /** Registers the metrics of the export itself, and exports all metrics if configured. */
  observe(metrics: Metrics): void;
  close(): Promise<void>;
}

/** Starts the export to an OpenTelemetry collector. Imported only when it is configured: the SDK is not loaded otherwise. */
export function startTelemetry(settings: TelemetrySettings, log: Log): Telemetry {
  const client = new OtlpClient(settings.collector);
  const resource = resourceFromAttributes(settings.resource);
  const health = { traces: new ExportHealth(log, 'traces'), metrics: new ExportHealth(log, 'metrics') };
  const spans = new SpanQueue(client, health.traces);
  const provider = new TracerProvider({
    resource,
    // RequestSampler has decided: only spans of sampled traces are started.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [spans],
  });
  let metricExport: MetricExport | null = null;
  return {
    tracer: settings.sampling
      ? new SdkTracer(provider.getTracer('caudal'), new RequestSampler(settings.sampling))
      : NO_TRACER,
    observe: (metrics) => {
      registerMetrics(metrics, spans, health);
      if (settings.metricsEveryMs !== null)
        metricExport = new MetricExport(
          { metrics, client, health: health.metrics, resource },
          settings.metricsEveryMs,
        );
    },
    close: async () => {
      // A collector that hangs must not delay the stop of the process.
      await Promise.race([
        Promise.all([provider.shutdown(), metricExport?.close()]),
        sleep(CLOSE_WITHIN_MS, null, { ref: false }),
      ]);
      await client.close();
    },
  };
}

function registerMetrics(
  metrics: Metrics,
  spans: SpanQueue,
  health: Readonly<Record<'traces' | 'metrics', ExportHealth>>,
): void {
  metrics.readCounter(
    'caudal_telemetry_spans_exported_total',
    'Spans that the OpenTelemetry collector accepted.',
    () => spans.exported,
  );
  metrics.readCounter(
    'caudal_telemetry_spans_dropped_total',
    'Spans that were not exported: the queue was full, the collector rejected them, or the process stopped.',
    () => Object.entries(spans.dropped).map(([reason, value]) => ({ labels: { reason }, value })),
  );
  metrics.gauge('caudal_telemetry_spans_queued', 'Spans waiting to be exported.', () => spans.queued);
  metrics.readCounter(
    'caudal_telemetry_exports_failed_total',
    'Requests to the OpenTelemetry collector that failed, by signal.',
    () => Object.entries(health).map(([signal, { failures }]) => ({ labels: { signal }, value: failures })),
  );
}
