import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWithin, within } from '../../../scripts/testing/expect-within.ts';
import { until } from '../harness/until.ts';
import type { SinkAnswer } from '../harness/webhook-sink.ts';
import { type CreatedEndpoint, type DeliveryBody, type Merchant, WebhookStage } from './webhook-stage.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
  await stage.keepHistory();
});
afterAll(() => stage?.close());

/** From the end of the last attempt to the next, at least. */
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

/**
 * The first attempt of one event at an endpoint with these answers. By the time it is read there may be a second one, unless
 * the first answer delays it.
 */
async function firstAttempt(...answers: readonly SinkAnswer[]) {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint({}, ...answers);
  const eventId = await merchant.declinePayout();
  const delivery = await merchant.waitForAttempt(eventId, endpoint);
  const [recorded] = await stage.recordedAttempts(eventId, endpoint);
  return { merchant, endpoint, eventId, delivery, attempt: delivery.attempts[0], delayMs: recorded?.delayMs };
}

describe('a delivery that was not acknowledged', () => {
  it('is retried five seconds after a 500, not earlier, and ends with a 200', async () => {
    const { merchant, endpoint, eventId, delivery, attempt, delayMs } = await firstAttempt(
      { status: 500, body: 'out of order', delayMs: 120 },
      { status: 200 },
    );
    expect(delivery.event).toBe('payout.declined');
    expect(attempt).toMatchObject({ statusCode: 500, error: null, answer: 'out of order' });
    expect(attempt?.durationMs).toBeGreaterThanOrEqual(119);
    expectWithin('the first attempt', attempt?.durationMs ?? 0, 5 * SECOND);
    expect(delayMs).toBeGreaterThanOrEqual(5 * SECOND);
    expect(delayMs).toBeLessThanOrEqual(5.5 * SECOND);
    // The queue is processed meanwhile, and deliveries that are not due stay.
    await stage.sink.waitForEvent(endpoint.path, await merchant.test(endpoint));
    await stage.stack.shiftTime(5.5 * SECOND);
    const ended = await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 2);
    expect(ended.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 200]);
    expect(ended.nextAttemptAt).toBeNull();
    expect(stage.sink.requestsTo(endpoint.path).filter(({ id }) => id === eventId)).toHaveLength(2);
    const [first, second] = await stage.recordedAttempts(eventId, endpoint);
    expect(second?.leasedAt.getTime()).toBeGreaterThanOrEqual(first?.nextAttemptAt?.getTime() ?? Number.NaN);
  });

  it('is retried with the documented delays plus at most a tenth', async () => {
    const { merchant, endpoint, eventId, delivery } = await firstAttempt({ status: 503 });
    const planned = [
      5 * SECOND,
      5 * MINUTE,
      30 * MINUTE,
      ...[2, 5, 10, 14, 20, 24].map((each) => each * HOUR),
    ];
    // Then daily.
    planned.push(DAY);
    let current = delivery;
    while (current.attempts.length < planned.length) current = await nextAttempt(merchant, endpoint, current);
    const delays = (await stage.recordedAttempts(eventId, endpoint)).map(({ delayMs }) => delayMs);
    for (const [index, delay] of planned.entries()) {
      expect(delays[index], `after ${index + 1}`).toBeGreaterThanOrEqual(delay);
      expect(delays[index], `after ${index + 1}`).toBeLessThanOrEqual(delay * 1.1);
    }
    expect(delays).toHaveLength(10);
    expect(current.attempts).toHaveLength(10);
    expect(stage.sink.requestsTo(endpoint.path)).toHaveLength(10);
  });

  it.each([301, 302, 303, 307, 308])('fails on a %i without following it', async (status) => {
    const elsewhere = stage.newPath();
    const { attempt } = await firstAttempt({
      status,
      headers: { location: stage.sink.url(elsewhere) },
      body: '',
    });
    expect(attempt).toMatchObject({ statusCode: status, error: null, answer: null });
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
    const { attempt } = await firstAttempt('close');
    expect(attempt).toMatchObject({ statusCode: null, error: 'reset', answer: null });
  });

  it('stores the first bytes of a long answer without splitting characters', async () => {
    const { attempt } = await firstAttempt({ status: 500, body: 'ñ'.repeat(5000) });
    const { answer = '' } = attempt ?? {};
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
    const { delayMs } = await firstAttempt({ status: 429, headers: { 'retry-after': value } });
    expect(delayMs).toBeGreaterThanOrEqual(minMs);
    expect(delayMs).toBeLessThanOrEqual(maxMs);
  });

  it('applies to all events of the endpoint, for five minutes at most', async () => {
    const { merchant, endpoint } = await firstAttempt({ status: 503, headers: { 'retry-after': '120' } }, {});
    const [batch] = await stage.batches(endpoint);
    expect((batch?.restUntil?.getTime() ?? 0) - (batch?.releasedAt.getTime() ?? 0)).toBe(2 * MINUTE);
    const next = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    const waiting = await merchant.delivery(next, endpoint);
    expect(waiting).toMatchObject({ status: 'PENDING', attempts: [] });
    const [queue] = await stage.query<{ due_at: Date; rest_until: Date }>(
      'select due_at, rest_until from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(queue?.due_at).toEqual(queue?.rest_until);
    expect(queue?.rest_until).toEqual(batch?.restUntil);
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
    await within('the test event', 3000, () => stage.sink.waitForEvent(endpoint.path, test));
    const tested = await merchant.waitForDelivery(test, endpoint, 'PENDING', 1);
    expect(tested.event).toBe('webhook.test');
    expect(tested.attempts[0]).toMatchObject({ statusCode: 500 });
    expect((await merchant.delivery(eventId, endpoint))?.attempts).toHaveLength(delivery.attempts.length);
  });

  it('gets a new event within a minute, however long the old ones wait', async () => {
    const { merchant, endpoint } = await failForHours();
    stage.sink.answer(endpoint.path, {});
    const fresh = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    await stage.stack.shiftTime(MINUTE);
    const { attempts } = await within('the new event', 5000, () =>
      merchant.waitForDelivery(fresh, endpoint, 'DELIVERED', 1),
    );
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
  // The retry after five seconds may have come before the shift.
  const shiftedTo = Date.parse(event.createdAt) + 29 * DAY - HOUR;
  const last = await until('it was attempted after 29 days', async () => {
    const delivery = await merchant.waitForDelivery(failingEvent, endpoint, 'PENDING', 2);
    return Date.parse(delivery.attempts.at(-1)?.at ?? '') >= shiftedTo && delivery;
  });
  await merchant.waitForDelivery(await merchant.declinePayout(), endpoint, 'DELIVERED');
  await stage.stack.shiftTime(1.01 * DAY);
  const ended = await merchant.waitForDelivery(failingEvent, endpoint, 'FAILED');
  expect(ended.nextAttemptAt).toBeNull();
  expect(ended.attempts.length).toBe(last.attempts.length);
  expect(Date.parse(ended.attempts.at(-1)?.at ?? '')).toBeLessThan(Date.parse(event.createdAt) + 30 * DAY);
  expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED' });
});
