import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { makeLog } from '../../src/kit/log.ts';
import { Metrics } from '../../src/kit/metrics.ts';
import { startTelemetry } from '../../src/tracing/telemetry.ts';
import { OtlpReceiver } from '../harness/otlp-receiver.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const QUEUE_LIMIT = 2048;

async function startExport() {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.close());
  const lines: string[] = [];
  const log = makeLog({ level: 'info', base: {}, stream: { write: (line: string) => lines.push(line) } });
  const metrics = new Metrics();
  const telemetry = startTelemetry(
    {
      collector: { endpoint: receiver.url, headers: {}, timeoutMs: 500 },
      sampling: { ratio: 1, followsCaller: false },
      metricsEveryMs: null,
      resource: { 'service.name': 'test' },
    },
    log,
  );
  telemetry.observe(metrics);
  return {
    receiver,
    telemetry,
    record: (count: number) => {
      for (let span = 0; span < count; span += 1) telemetry.tracer.startRequest('test', undefined, {})?.end();
    },
    value: (name: string, labels: Readonly<Record<string, string>> = {}) =>
      metrics
        .read()
        .find((family) => family.name === name)
        ?.samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value,
    codes: () => lines.map((line) => (JSON.parse(line) as { code: string }).code),
  };
}

describe('a collector that fails', () => {
  it('costs a bounded queue; drops are counted, and each transition is logged once', async () => {
    const { receiver, telemetry, record, value, codes } = await startExport();
    receiver.behavior = 503;
    record(QUEUE_LIMIT + 500);
    expect(value('caudal_telemetry_spans_dropped_total', { reason: 'queue_full' })).toBe(500);
    expect(value('caudal_telemetry_spans_queued')).toBe(QUEUE_LIMIT);
    await until('two exports failed', () =>
      Promise.resolve((value('caudal_telemetry_exports_failed_total', { signal: 'traces' }) ?? 0) >= 2),
    );
    expect(codes()).toEqual(['telemetry_export_failing']);
    receiver.behavior = 200;
    await until('the queue is exported', () => Promise.resolve(receiver.spans.length === QUEUE_LIMIT));
    await until('the exports are counted', () =>
      Promise.resolve(value('caudal_telemetry_spans_exported_total') === QUEUE_LIMIT),
    );
    expect(codes()).toEqual(['telemetry_export_failing', 'telemetry_export_recovered']);
    await telemetry.close();
  });

  it('loses the spans that it rejects, and no others', async () => {
    const { receiver, telemetry, record, value } = await startExport();
    receiver.behavior = 400;
    record(3);
    await until('the rejection is counted', () =>
      Promise.resolve(value('caudal_telemetry_spans_dropped_total', { reason: 'rejected' }) === 3),
    );
    receiver.behavior = 200;
    record(2);
    await telemetry.close();
    expect(receiver.spans).toHaveLength(2);
  });

  it('does not delay the stop when it hangs', async () => {
    const { receiver, telemetry, record, value } = await startExport();
    receiver.behavior = 'hang';
    record(10);
    await within('the stop', 2500, () => telemetry.close());
    expect(value('caudal_telemetry_spans_exported_total')).toBe(0);
  });
});

describe('requests beside a collector that hangs', () => {
  let receiver: OtlpReceiver;
  let stack: Stack;
  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    receiver.behavior = 'hang';
    stack = await startStack({
      settings: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_TIMEOUT: '200',
        OTEL_TRACES_SAMPLER: 'always_on',
      },
    });
  });
  afterAll(async () => {
    await stack?.stop();
    await receiver?.close();
  });

  it('are answered as usual', async () => {
    const [api] = stack.apis;
    if (!api) throw new Error('no API process');
    for (let request = 0; request < 20; request += 1) {
      const { status } = await stack.api.post('/payins', brebPayin());
      expect(status).toBe(201);
    }
    await until(
      'exports failed',
      async () => (await readMetric(api, 'caudal_telemetry_exports_failed_total')) > 0,
    );
    const { status } = await stack.api.post('/payins', brebPayin());
    expect(status).toBe(201);
    expect(await readMetric(api, 'caudal_telemetry_spans_exported_total')).toBe(0);
  });
});
