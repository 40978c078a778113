import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SinkAnswer } from '../harness/webhook-sink.ts';
import { type CreatedEndpoint, type DeliveryBody, type Merchant, WebhookStage } from './webhook-stage.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** Time to record an attempt: the delays start then. */
const RECORDING_MS = 500;

/** From the end of the last attempt to the next. */
function nextDelayMs({ attempts, nextAttemptAt }: DeliveryBody): number {
  const last = attempts.at(-1);
  return Date.parse(nextAttemptAt ?? '') - Date.parse(last?.at ?? '') - (last?.durationMs ?? 0);
}

/** Advances business time to the next attempt of a delivery and waits for it. */
async function nextAttempt(
  merchant: Merchant,
  endpoint: CreatedEndpoint,
  delivery: DeliveryBody,
  status: DeliveryBody['status'] = 'PENDING',
): Promise<DeliveryBody> {
  await stage.stack.shiftTime(nextDelayMs(delivery));
  return merchant.waitForDelivery(delivery.eventId, endpoint, status, delivery.attempts.length + 1);
}

/** The first attempt of one event at an endpoint with these answers. */
async function firstAttempt(...answers: readonly SinkAnswer[]) {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint({}, ...answers);
  const eventId = await merchant.declinePayout();
  return {
    merchant,
    endpoint,
    eventId,
    delivery: await merchant.waitForDelivery(eventId, endpoint, 'PENDING', 1),
  };
}

describe('a delivery that was not acknowledged', () => {
  it('is retried five seconds after a 500, not earlier, and ends with a 200', async () => {
    const { merchant, endpoint, eventId, delivery } = await firstAttempt(
      { status: 500, body: 'out of order', delayMs: 120 },
      { status: 200 },
    );
    expect(delivery).toMatchObject({
      event: 'payout.declined',
      attempts: [{ statusCode: 500, error: null, answer: 'out of order' }],
    });
    expect(delivery.attempts[0]?.durationMs).toBeGreaterThanOrEqual(119);
    expect(delivery.attempts[0]?.durationMs).toBeLessThan(5 * SECOND);
    expect(nextDelayMs(delivery)).toBeGreaterThanOrEqual(5 * SECOND);
    expect(nextDelayMs(delivery)).toBeLessThanOrEqual(5.5 * SECOND + RECORDING_MS);
    // The queue is processed meanwhile, and deliveries that are not due stay.
    await stage.sink.waitForEvent(endpoint.path, await merchant.test(endpoint));
    expect(stage.sink.requestsTo(endpoint.path).filter(({ id }) => id === eventId)).toHaveLength(1);
    const ended = await nextAttempt(merchant, endpoint, delivery, 'DELIVERED');
    expect(ended.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 200]);
    expect(ended.nextAttemptAt).toBeNull();
  });

  it('is retried with the documented delays plus at most a tenth', async () => {
    const { merchant, endpoint, delivery } = await firstAttempt({ status: 503 });
    const planned = [
      5 * SECOND,
      5 * MINUTE,
      30 * MINUTE,
      ...[2, 5, 10, 14, 20, 24].map((each) => each * HOUR),
    ];
    let current = delivery;
    for (const delay of planned) {
      expect(nextDelayMs(current), `after ${current.attempts.length}`).toBeGreaterThanOrEqual(delay);
      expect(nextDelayMs(current), `after ${current.attempts.length}`).toBeLessThanOrEqual(
        delay * 1.1 + RECORDING_MS,
      );
      current = await nextAttempt(merchant, endpoint, current);
    }
    // Then daily.
    expect(nextDelayMs(current)).toBeGreaterThanOrEqual(DAY);
    expect(nextDelayMs(current)).toBeLessThanOrEqual(DAY * 1.1);
    expect(current.attempts).toHaveLength(10);
    expect(stage.sink.requestsTo(endpoint.path)).toHaveLength(10);
  });

  it.each([301, 302, 303, 307, 308])('fails on a %i without following it', async (status) => {
    const elsewhere = stage.newPath();
    const { delivery } = await firstAttempt({
      status,
      headers: { location: stage.sink.url(elsewhere) },
      body: '',
    });
    expect(delivery.attempts).toMatchObject([{ statusCode: status, error: null, answer: null }]);
    expect(stage.sink.requestsTo(elsewhere)).toEqual([]);
  });

  it.each([200, 202, 204, 299])('is acknowledged by a %i', async (status) => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status, body: '' });
    const { attempts } = await merchant.waitForDelivery(
      await merchant.declinePayout(),
      endpoint,
      'DELIVERED',
    );
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([status]);
  });

  it('has the error reset when the connection ends without an answer', async () => {
    const { delivery } = await firstAttempt('close');
    expect(delivery.attempts).toMatchObject([{ statusCode: null, error: 'reset', answer: null }]);
  });

  it('stores the first bytes of a long answer without splitting characters', async () => {
    const { delivery } = await firstAttempt({ status: 500, body: 'ñ'.repeat(5000) });
    const { answer = '' } = delivery.attempts[0] ?? {};
    expect(answer).toMatch(/^ñ+$/);
    expect(Buffer.byteLength(answer ?? '')).toBeLessThanOrEqual(512);
    expect(Buffer.byteLength(answer ?? '')).toBeGreaterThan(500);
  });
});

describe('Retry-After', () => {
  it.each([
    ['an hour is respected', '3600', HOUR, HOUR],
    ['a week is limited to a day', String(7 * 86_400), DAY, DAY],
    ['a second does not shorten the delay', '1', 5 * SECOND, 5.5 * SECOND],
    ['an invalid value is ignored', 'soon', 5 * SECOND, 5.5 * SECOND],
  ])('%s', async (_, value, minMs, maxMs) => {
    const { delivery } = await firstAttempt({ status: 429, headers: { 'retry-after': value } });
    expect(nextDelayMs(delivery)).toBeGreaterThanOrEqual(minMs);
    expect(nextDelayMs(delivery)).toBeLessThanOrEqual(maxMs + RECORDING_MS);
  });

  it('applies to all events of the endpoint, for five minutes at most', async () => {
    const { merchant, endpoint } = await firstAttempt({ status: 503, headers: { 'retry-after': '120' } }, {});
    const createdAt = Date.now();
    const next = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    const waiting = await merchant.delivery(next, endpoint);
    const [row] = await stage.query<{ ms: number }>(
      'select extract(epoch from due_at - caudal.now())::float8 * 1000 as ms from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(row?.ms).toBeGreaterThan(2 * MINUTE - (Date.now() - createdAt) - 10 * SECOND);
    expect(waiting).toMatchObject({ status: 'PENDING', attempts: [] });
    const [queue] = await stage.query<{ rest_until: Date }>(
      'select rest_until from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(waiting?.nextAttemptAt).toBe(queue?.rest_until.toISOString());
    expect(stage.sink.requestsTo(endpoint.path)).toHaveLength(1);
    await stage.shiftTime(2 * MINUTE);
    await merchant.waitForDelivery(next, endpoint, 'DELIVERED', 1);
  });

  it('delays the next attempt', async () => {
    const { merchant, endpoint, delivery } = await firstAttempt(
      { status: 503, headers: { 'retry-after': '7200' } },
      {},
    );
    const ended = await nextAttempt(merchant, endpoint, delivery, 'DELIVERED');
    expect(ended.attempts.map(({ statusCode }) => statusCode)).toEqual([503, 200]);
  });
});

describe('an endpoint that has failed for hours', () => {
  async function failForHours() {
    const first = await firstAttempt({ status: 500 });
    let { delivery } = first;
    while (delivery.attempts.length < 7)
      delivery = await nextAttempt(first.merchant, first.endpoint, delivery);
    expect(nextDelayMs(delivery)).toBeGreaterThan(10 * HOUR);
    return { ...first, delivery };
  }

  it('gets a test event immediately, before its backlog', async () => {
    const { merchant, endpoint, eventId, delivery } = await failForHours();
    const test = await merchant.test(endpoint);
    await stage.sink.waitForEvent(endpoint.path, test, 3000);
    const tested = await merchant.waitForDelivery(test, endpoint, 'PENDING', 1);
    expect(tested).toMatchObject({ event: 'webhook.test', attempts: [{ statusCode: 500 }] });
    expect((await merchant.delivery(eventId, endpoint))?.attempts).toHaveLength(delivery.attempts.length);
  });

  it('gets a new event within a minute, however long the old ones wait', async () => {
    const { merchant, endpoint } = await failForHours();
    stage.sink.answer(endpoint.path, {});
    const fresh = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    await stage.stack.shiftTime(MINUTE);
    const { attempts } = await merchant.waitForDelivery(fresh, endpoint, 'DELIVERED', 1, 5000);
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([200]);
  });

  it('is not considered failing because of a test event, which expires after an hour', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const test = await merchant.test(endpoint);
    let delivery = await merchant.waitForDelivery(test, endpoint, 'PENDING', 1);
    while (delivery.attempts.length < 3) delivery = await nextAttempt(merchant, endpoint, delivery);
    await stage.stack.shiftTime(HOUR);
    const ended = await merchant.waitForDelivery(test, endpoint, 'FAILED');
    expect(ended.nextAttemptAt).toBeNull();
    const [queue] = await stage.query(
      'select failures, failing_since from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(queue).toEqual({ failures: 0, failing_since: null });
  });
});

it('a delivery is not attempted more than thirty days after its event', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint();
  // The first event always fails, all others succeed.
  const first = { id: '' };
  stage.sink.answerBy(endpoint.path, ({ id }) => {
    first.id ||= id;
    return { status: id === first.id ? 500 : 200 };
  });
  const failingEvent = await merchant.declinePayout();
  const event = await merchant.event(failingEvent);
  await merchant.waitForDelivery(failingEvent, endpoint, 'PENDING', 1);
  // Other deliveries succeed, so that the endpoint is not disabled.
  await merchant.waitForDelivery(await merchant.declinePayout(), endpoint, 'DELIVERED');
  await stage.stack.shiftTime(29 * DAY);
  const last = await merchant.waitForDelivery(failingEvent, endpoint, 'PENDING', 2);
  await merchant.waitForDelivery(await merchant.declinePayout(), endpoint, 'DELIVERED');
  await stage.stack.shiftTime(1.01 * DAY);
  const ended = await merchant.waitForDelivery(failingEvent, endpoint, 'FAILED');
  expect(ended.nextAttemptAt).toBeNull();
  expect(ended.attempts.length).toBe(last.attempts.length);
  expect(Date.parse(ended.attempts.at(-1)?.at ?? '')).toBeLessThan(Date.parse(event.createdAt) + 30 * DAY);
  expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED' });
});
