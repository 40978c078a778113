import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver, type LinkBody, linkRequest } from '../harness/checkout-driver.ts';
import type { ReceivedSpan } from '../harness/otlp-decoder.ts';
import { OtlpReceiver } from '../harness/otlp-receiver.ts';
import { PayinDriver, type PayinView } from '../harness/payin-driver.ts';
import { brebPayin, psePayin } from '../harness/payin-requests.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { readPseReference } from '../harness/pse-reference.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';

let receiver: OtlpReceiver;
let sink: WebhookSink;
let stack: Stack;
beforeAll(async () => {
  receiver = await OtlpReceiver.start();
  sink = await WebhookSink.start();
  stack = await startStack({
    apis: 2,
    workers: 2,
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc',
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      CAUDAL_LOG_LEVEL: 'info',
    },
  });
  await stack.api.post('/webhook-endpoints', { url: sink.url('/hook') });
});
afterAll(async () => {
  await stack?.stop();
  await sink?.close();
  await receiver?.close();
});

/** A caller's position in its own trace. */
function callerTrace() {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

/** Names with the role of the process that recorded them. */
function steps(spans: readonly ReceivedSpan[]): Set<string> {
  return new Set(spans.map(({ name, resource }) => `${String(resource['caudal.role'])}: ${name}`));
}

/** The spans with these names start in this order and before all others. Their wall clock counts whole milliseconds. */
function expectToStart(spans: readonly ReceivedSpan[], names: readonly string[]): void {
  const first = names.map((name) => spanNamed(spans, name));
  const others = spans.filter((span) => !names.includes(span.name));
  for (const [index, span] of first.entries())
    for (const later of [...first.slice(index + 1), ...others])
      expect(later.startNanos - span.startNanos, `${span.name} before ${later.name}`).toBeGreaterThan(
        -1_000_000n,
      );
}

function spanNamed(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name}`);
  return found;
}

async function waitForWebhook(resourceId: string) {
  return until('the webhook was delivered', () =>
    Promise.resolve(sink.requestsTo('/hook').find(({ body }) => body.includes(resourceId))),
  );
}

/** Every span belongs to the request: the caller's span is the parent of the request, the request that of all others. */
function expectOneTree(spans: readonly ReceivedSpan[], caller: { spanId: string }, request: string): void {
  const root = spanNamed(spans, request);
  expect(root.parentSpanId).toBe(caller.spanId);
  for (const span of spans.filter((each) => each !== root)) expect(span.parentSpanId).toBe(root.spanId);
  expect(spans.filter(({ failed }) => failed)).toEqual([]);
  for (const { startNanos, endNanos } of spans) expect(endNanos).toBeGreaterThanOrEqual(startNanos);
}

describe('one payment is one trace', () => {
  it('links a Bre-B payin from its request through the rail notification to the webhook', async () => {
    const driver = new PayinDriver(stack);
    const caller = callerTrace();
    const { body } = await stack.api.post<PayinView>('/payins', brebPayin(), caller.headers);
    const key = body.sourceData.keyString ?? '';
    await until('the key is registered', async () => (await driver.simulator.key(key)) !== null);
    await driver.simulator.pay({ key });
    const webhook = await waitForWebhook(body.id);
    const names = [
      'POST /payins',
      'wait for batch',
      'commit create payins',
      'BRE_B open',
      'BRE_B notification',
      'dispatch event',
      'webhook attempt',
      'BRE_B close',
      'BRE_B queryStatus',
      'commit apply statuses',
    ];
    const spans = await receiver.waitForTrace(caller.traceId, names);
    expectOneTree(spans, caller, 'POST /payins');
    expectToStart(spans, names.slice(0, 4));
    expect(steps(spans)).toEqual(
      new Set([
        ...names.slice(0, 4).map((name) => `api: ${name}`),
        ...names.slice(4).map((name) => `worker: ${name}`),
      ]),
    );

    const open = spanNamed(spans, 'BRE_B open');
    expect(open.attributes).toMatchObject({
      'caudal.rail': 'BRE_B',
      'caudal.rail.operation': 'open',
      'caudal.rail.result': 'yes',
    });
    const received = await driver.simulator.traceparents();
    expect(received).toContainEqual({
      rail: 'BRE_B',
      operation: 'register',
      traceparent: `00-${caller.traceId}-${open.spanId}-01`,
    });
    const attempt = spanNamed(spans, 'webhook attempt');
    expect(webhook.headers['traceparent']).toBe(`00-${caller.traceId}-${attempt.spanId}-01`);
    expect(attempt.attributes).toMatchObject({
      'http.response.status_code': 200,
      'caudal.webhook.attempt': 1,
    });
    expect(spanNamed(spans, 'POST /payins').attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/payins',
      'http.response.status_code': 201,
      'caudal.organization.id': stack.organization.organizationId,
    });
    expect(spanNamed(spans, 'commit create payins').attributes).toMatchObject({
      'caudal.resource.id': body.id,
    });
  });

  it('links a PSE payin, whose bank page the request waits for', async () => {
    const driver = new PayinDriver(stack);
    const caller = callerTrace();
    const { body } = await stack.api
      .at(stack.apis[1]?.url ?? '')
      .post<PayinView>('/payins', psePayin(), caller.headers);
    expect(body.status).toBe('PROCESSING');
    const reference = await readPseReference(stack.database, body.id);
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    await waitForWebhook(body.id);
    const spans = await receiver.waitForTrace(caller.traceId, [
      'POST /payins',
      'commit create payins',
      'PSE open',
      'PSE notification',
      'dispatch event',
      'webhook attempt',
    ]);
    expectOneTree(spans, caller, 'POST /payins');
    const open = spanNamed(spans, 'PSE open');
    expect(await driver.simulator.traceparents()).toContainEqual({
      rail: 'PSE',
      operation: 'create',
      traceparent: `00-${caller.traceId}-${open.spanId}-01`,
    });
  });

  it('continues the trace of a payment link in the payin of its payer', async () => {
    const caller = callerTrace();
    const { body: link } = await stack.api.post<LinkBody>('/payment-links', linkRequest(), caller.headers);
    const driver = new CheckoutDriver(stack);
    const { key } = await driver.breb(link);
    await driver.simulator.pay({ key });
    await waitForWebhook(link.paymentLinkId);
    const spans = await receiver.waitForTrace(caller.traceId, [
      'POST /payment-links',
      'commit create links',
      'BRE_B open',
      'BRE_B notification',
      'dispatch event',
      'webhook attempt',
    ]);
    expectOneTree(spans, caller, 'POST /payment-links');
    expect(spanNamed(spans, 'commit create links').attributes).toMatchObject({
      'caudal.resource.id': link.paymentLinkId,
    });
  });

  it('links a payout from its request through the order at the rail to the webhook', async () => {
    const caller = callerTrace();
    const driver = new PayoutDriver(stack);
    await driver.fund();
    const { id } = await new PayoutDriver({ ...stack, api: stack.api.with(caller.headers) }).create();
    await driver.waitForStatus(id, 'CONFIRMED');
    await waitForWebhook(id);
    const spans = await receiver.waitForTrace(caller.traceId, [
      'POST /payouts',
      'wait for batch',
      'commit create payouts',
      'BRE_B pay',
      'BRE_B notification',
      'dispatch event',
      'webhook attempt',
    ]);
    expectOneTree(spans, caller, 'POST /payouts');
    const pay = spanNamed(spans, 'BRE_B pay');
    expect(await driver.simulator.traceparents()).toContainEqual({
      rail: 'BRE_B',
      operation: 'order',
      traceparent: `00-${caller.traceId}-${pay.spanId}-01`,
    });
  });
});

it('logs the trace of a sampled request with its request id', async () => {
  const caller = callerTrace();
  await stack.api.get('/balance', { ...caller.headers, 'x-request-id': 'shop-4711' });
  const [api] = stack.apis;
  // Output arrives in pieces: the last line may not be complete.
  const line = await until('the request is logged', () =>
    Promise.resolve(
      api
        ?.output()
        .split('\n')
        .slice(0, -1)
        .find((each) => each.includes('shop-4711')),
    ),
  );
  const spans = await receiver.waitForTrace(caller.traceId, ['GET /balance']);
  const request = spanNamed(spans, 'GET /balance');
  expect(JSON.parse(line)).toMatchObject({
    requestId: 'shop-4711',
    traceId: caller.traceId,
    spanId: request.spanId,
  });
  expect(request.attributes['caudal.request.id']).toBe('shop-4711');
});

it('exports the metrics of every process over OTLP, with the configured headers', async () => {
  const sizes = await until('the histogram of batch sizes is exported', () =>
    Promise.resolve(
      receiver.metrics.findLast(
        ({ name, points }) => name === 'caudal_payin_batch_size' && points.some(({ count }) => count > 0),
      ),
    ),
  );
  expect(sizes.type).toBe('histogram');
  for (const { count, bucketCounts, bounds } of sizes.points) {
    expect(bucketCounts.reduce((sum, each) => sum + each, 0)).toBe(count);
    expect(bucketCounts).toHaveLength(bounds.length + 1);
  }
  const instances = () =>
    new Set(receiver.metrics.map(({ resource }) => String(resource['service.instance.id'])));
  await until('four processes export', () => Promise.resolve(instances().size === 4));
  expect(receiver.metrics.find(({ name }) => name === 'caudal_clock_age_seconds')?.type).toBe('gauge');
  expect(receiver.metrics.find(({ name }) => name === 'caudal_rail_notices_total')?.type).toBe('sum');
  expect(receiver.metrics[0]?.resource).toMatchObject({
    'service.name': 'caudal',
    'deployment.environment.name': 'development',
  });
  expect(new Set(receiver.requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set(['Bearer abc']),
  );
});
