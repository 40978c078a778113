import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SinkAnswer } from '../harness/webhook-sink.ts';
import { type DeliveryBody, type MadeEndpoint, type Merchant, WebhookStage } from './webhook-stage.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** What it may take to write down what came of an attempt: the delays are counted from then. */
const WRITTEN_MS = 500;

/** Between the end of the last attempt and the next. */
function delayOf({ attempts, nextAttemptAt }: DeliveryBody): number {
  const last = attempts.at(-1);
  return Date.parse(nextAttemptAt ?? '') - Date.parse(last?.at ?? '') - (last?.durationMs ?? 0);
}

/** Business time goes on to the next attempt of a delivery, and the attempt is made. */
async function nextAttempt(
  merchant: Merchant,
  endpoint: MadeEndpoint,
  delivery: DeliveryBody,
  status: DeliveryBody['status'] = 'PENDING',
): Promise<DeliveryBody> {
  await stage.stack.shiftTime(delayOf(delivery));
  return merchant.reaches(delivery.eventId, endpoint, status, delivery.attempts.length + 1);
}

/** The first attempt of one event at an endpoint that answers so. */
async function firstAttempt(...answers: readonly SinkAnswer[]) {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint({}, ...answers);
  const eventId = await merchant.declined();
  return { merchant, endpoint, eventId, delivery: await merchant.reaches(eventId, endpoint, 'PENDING', 1) };
}

describe('what was not acknowledged', () => {
  it('a 500 is tried again five seconds later, and not before; the 200 ends it', async () => {
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
    expect(delayOf(delivery)).toBeGreaterThanOrEqual(5 * SECOND);
    expect(delayOf(delivery)).toBeLessThanOrEqual(5.5 * SECOND + WRITTEN_MS);
    // The line is worked meanwhile, and what is not due stays where it is.
    await stage.sink.receivesEvent(endpoint.path, await merchant.test(endpoint));
    expect(stage.sink.at(endpoint.path).filter(({ id }) => id === eventId)).toHaveLength(1);
    const ended = await nextAttempt(merchant, endpoint, delivery, 'DELIVERED');
    expect(ended.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 200]);
    expect(ended.nextAttemptAt).toBeNull();
  });

  it('the delays are those of the contract, a tenth longer at most', async () => {
    const { merchant, endpoint, delivery } = await firstAttempt({ status: 503 });
    const planned = [
      5 * SECOND,
      5 * MINUTE,
      30 * MINUTE,
      ...[2, 5, 10, 14, 20, 24].map((each) => each * HOUR),
    ];
    let seen = delivery;
    for (const delay of planned) {
      expect(delayOf(seen), `after ${seen.attempts.length}`).toBeGreaterThanOrEqual(delay);
      expect(delayOf(seen), `after ${seen.attempts.length}`).toBeLessThanOrEqual(delay * 1.1 + WRITTEN_MS);
      seen = await nextAttempt(merchant, endpoint, seen);
    }
    // Then daily.
    expect(delayOf(seen)).toBeGreaterThanOrEqual(DAY);
    expect(delayOf(seen)).toBeLessThanOrEqual(DAY * 1.1);
    expect(seen.attempts).toHaveLength(10);
    expect(stage.sink.at(endpoint.path)).toHaveLength(10);
  });

  it.each([301, 302, 303, 307, 308])('a %i is a failure, and nobody follows it', async (status) => {
    const elsewhere = stage.newPath();
    const { delivery } = await firstAttempt({
      status,
      headers: { location: stage.sink.url(elsewhere) },
      body: '',
    });
    expect(delivery.attempts).toMatchObject([{ statusCode: status, error: null, answer: null }]);
    expect(stage.sink.at(elsewhere)).toEqual([]);
  });

  it.each([200, 202, 204, 299])('a %i acknowledges', async (status) => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status, body: '' });
    const { attempts } = await merchant.reaches(await merchant.declined(), endpoint, 'DELIVERED');
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([status]);
  });

  it('a connection that ends without an answer is told by a word of ours', async () => {
    const { delivery } = await firstAttempt('close');
    expect(delivery.attempts).toMatchObject([{ statusCode: null, error: 'reset', answer: null }]);
  });

  it('of a long answer the first bytes are kept, and whole characters', async () => {
    const { delivery } = await firstAttempt({ status: 500, body: 'ñ'.repeat(5000) });
    const { answer = '' } = delivery.attempts[0] ?? {};
    expect(answer).toMatch(/^ñ+$/);
    expect(Buffer.byteLength(answer ?? '')).toBeLessThanOrEqual(512);
    expect(Buffer.byteLength(answer ?? '')).toBeGreaterThan(500);
  });
});

describe('Retry-After', () => {
  it.each([
    ['an hour is waited for', '3600', HOUR, HOUR],
    ['a week is waited for a day', String(7 * 86_400), DAY, DAY],
    ['a second makes nothing sooner', '1', 5 * SECOND, 5.5 * SECOND],
    ['what cannot be read is not heard', 'soon', 5 * SECOND, 5.5 * SECOND],
  ])('%s', async (_, value, least, most) => {
    const { delivery } = await firstAttempt({ status: 429, headers: { 'retry-after': value } });
    expect(delayOf(delivery)).toBeGreaterThanOrEqual(least);
    expect(delayOf(delivery)).toBeLessThanOrEqual(most + WRITTEN_MS);
  });

  it('is heard for all events of the endpoint: nothing new is tried before, for five minutes at most', async () => {
    const { merchant, endpoint } = await firstAttempt({ status: 503, headers: { 'retry-after': '120' } }, {});
    const asked = Date.now();
    const next = await merchant.declined();
    await merchant.dispatched();
    const waiting = await merchant.delivery(next, endpoint);
    const [row] = await stage.query<{ ms: number }>(
      'select extract(epoch from due_at - caudal.now())::float8 * 1000 as ms from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(row?.ms).toBeGreaterThan(2 * MINUTE - (Date.now() - asked) - 10 * SECOND);
    expect(waiting).toMatchObject({ status: 'PENDING', attempts: [] });
    const [line] = await stage.query<{ rest_until: Date }>(
      'select rest_until from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(waiting?.nextAttemptAt).toBe(line?.rest_until.toISOString());
    expect(stage.sink.at(endpoint.path)).toHaveLength(1);
    await stage.shiftHeard(2 * MINUTE);
    await merchant.reaches(next, endpoint, 'DELIVERED', 1);
  });

  it('and then it is tried again', async () => {
    const { merchant, endpoint, delivery } = await firstAttempt(
      { status: 503, headers: { 'retry-after': '7200' } },
      {},
    );
    const ended = await nextAttempt(merchant, endpoint, delivery, 'DELIVERED');
    expect(ended.attempts.map(({ statusCode }) => statusCode)).toEqual([503, 200]);
  });
});

describe('an endpoint that has failed for hours', () => {
  async function failing() {
    const first = await firstAttempt({ status: 500 });
    let { delivery } = first;
    while (delivery.attempts.length < 7)
      delivery = await nextAttempt(first.merchant, first.endpoint, delivery);
    expect(delayOf(delivery)).toBeGreaterThan(10 * HOUR);
    return { ...first, delivery };
  }

  it('gets a test at once all the same, before all that waits', async () => {
    const { merchant, endpoint, eventId, delivery } = await failing();
    const test = await merchant.test(endpoint);
    await stage.sink.receivesEvent(endpoint.path, test, 3000);
    const tested = await merchant.reaches(test, endpoint, 'PENDING', 1);
    expect(tested).toMatchObject({ event: 'webhook.test', attempts: [{ statusCode: 500 }] });
    expect((await merchant.delivery(eventId, endpoint))?.attempts).toHaveLength(delivery.attempts.length);
  });

  it('is tried with what is new within a minute, however long the old has to wait', async () => {
    const { merchant, endpoint } = await failing();
    stage.sink.answer(endpoint.path, {});
    const fresh = await merchant.declined();
    await merchant.dispatched();
    await stage.stack.shiftTime(MINUTE);
    const { attempts } = await merchant.reaches(fresh, endpoint, 'DELIVERED', 1, 5000);
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([200]);
  });

  it('a test that fails says nothing about it, and is given up after an hour', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const test = await merchant.test(endpoint);
    let delivery = await merchant.reaches(test, endpoint, 'PENDING', 1);
    while (delivery.attempts.length < 3) delivery = await nextAttempt(merchant, endpoint, delivery);
    await stage.stack.shiftTime(HOUR);
    const ended = await merchant.reaches(test, endpoint, 'FAILED');
    expect(ended.nextAttemptAt).toBeNull();
    const [line] = await stage.query(
      'select failures, failing_since from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(line).toEqual({ failures: 0, failing_since: null });
  });
});

it('thirty days after the event nothing more is tried', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint();
  // The first event is refused for ever, all others are taken.
  const first = { id: '' };
  stage.sink.answerBy(endpoint.path, ({ id }) => {
    first.id ||= id;
    return { status: id === first.id ? 500 : 200 };
  });
  const refused = await merchant.declined();
  const event = await merchant.event(refused);
  await merchant.reaches(refused, endpoint, 'PENDING', 1);
  // Others reach it: it is not the endpoint that fails.
  await merchant.reaches(await merchant.declined(), endpoint, 'DELIVERED');
  await stage.stack.shiftTime(29 * DAY);
  const last = await merchant.reaches(refused, endpoint, 'PENDING', 2);
  await merchant.reaches(await merchant.declined(), endpoint, 'DELIVERED');
  await stage.stack.shiftTime(1.01 * DAY);
  const ended = await merchant.reaches(refused, endpoint, 'FAILED');
  expect(ended.nextAttemptAt).toBeNull();
  expect(ended.attempts.length).toBe(last.attempts.length);
  expect(Date.parse(ended.attempts.at(-1)?.at ?? '')).toBeLessThan(Date.parse(event.createdAt) + 30 * DAY);
  expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED' });
});
