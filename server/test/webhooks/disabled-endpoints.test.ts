import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { startRawPeer } from '../harness/raw-peer.ts';
import { readMetric } from '../harness/read-metric.ts';
import { until } from '../harness/until.ts';
import { type CreatedEndpoint, type Merchant, WebhookStage } from './webhook-stage.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** Endpoints the worker has disabled so far. */
async function countDisabled(): Promise<number> {
  const [worker] = stage.stack.workers;
  return worker ? readMetric(worker, 'caudal_webhook_endpoints_disabled_total').catch(() => 0) : 0;
}

/** Log lines about the disabled endpoint; the worker writes them after the commit that clients see. */
function waitForDisabledLog(endpoint: CreatedEndpoint): Promise<string[]> {
  return until('the log contains it', () => {
    const [worker] = stage.stack.workers;
    const lines = worker?.output().split('\n') ?? [];
    const matches = lines.filter(
      (line) => line.includes('webhook_endpoint_disabled') && line.includes(endpoint.id),
    );
    return Promise.resolve(matches.length > 0 && matches);
  });
}

/** Advances time until the endpoint has been failing for this long. */
async function failFor(merchant: Merchant, endpoint: CreatedEndpoint, days: number): Promise<void> {
  for (let hours = 0; hours < days * 24; hours += 12) {
    if ((await merchant.get(endpoint)).status === 'DISABLED') return;
    const before = await countAttempts(endpoint);
    await stage.stack.shiftTime(12 * HOUR);
    // Nothing may be due within half a day; then a later shift makes it due.
    await until(
      'it was attempted or nothing is due',
      async () => (await countAttempts(endpoint)) > before || !(await isDue(endpoint)),
    );
  }
}

async function countAttempts({ id }: CreatedEndpoint): Promise<number> {
  const [row] = await stage.query<{ count: number }>(
    'select count(*)::int as count from caudal.webhook_attempts where endpoint_id = $1',
    [id],
  );
  return row?.count ?? 0;
}

async function isDue({ id }: CreatedEndpoint): Promise<boolean> {
  const rows = await stage.query(
    'select 1 from caudal.webhook_queues where endpoint_id = $1 and (due_at <= caudal.now() or leased_until is not null)',
    [id],
  );
  return rows.length > 0;
}

describe('an endpoint is disabled', () => {
  it('immediately by a 410, with its reason, a log line and a metric', async () => {
    const merchant = await stage.merchant();
    const gone = await merchant.endpoint({}, { status: 410 });
    const other = await merchant.endpoint();
    const before = await countDisabled();
    const eventId = await merchant.declinePayout();
    expect(await merchant.waitUntilDisabled(gone)).toMatchObject({ disabledReason: 'gone' });
    expect(await merchant.delivery(eventId, gone)).toMatchObject({
      status: 'PENDING',
      attempts: [{ statusCode: 410 }],
      nextAttemptAt: null,
    });
    await until('the metric counts it', async () => (await countDisabled()) === before + 1);
    const [line, ...more] = await waitForDisabledLog(gone);
    expect(more).toEqual([]);
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      organizationId: merchant.id,
      webhookEndpointId: gone.id,
      reason: 'gone',
    });
    expect(line).not.toContain(gone.path);
    await stage.sink.waitForEvent(other.path, eventId);
    expect((await merchant.get(other)).status).toBe('ENABLED');
  });

  it('not by a 410 from its previous URL', async () => {
    const merchant = await stage.merchant();
    // Answers once the URL has changed, however long that takes.
    const [changed, gone] = [Promise.withResolvers<void>(), 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'];
    const previous = await startRawPeer((socket) => void changed.promise.then(() => socket.write(gone)), {
      host: '127.0.0.1',
    });
    const endpoint = await merchant.endpoint({ url: `http://127.0.0.1:${previous.port}/hook` });
    const first = await merchant.declinePayout();
    await until('the request arrived', () => Promise.resolve(previous.requests.length > 0));
    const path = stage.newPath();
    await merchant.change(endpoint, { url: stage.sink.url(path) });
    changed.resolve();
    await merchant.waitForAttempt(first, endpoint);
    await previous.stop();
    const second = await merchant.declinePayout();
    await stage.sink.waitForEvent(path, second);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED', disabledReason: null });
  });

  it('not by days without anything to send', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const test = await merchant.declinePayout();
    await merchant.waitForDelivery(test, endpoint, 'PENDING', 1);
    // The delivery expires, so that the queue is empty.
    await stage.query('update caudal.webhook_deliveries set give_up_at = caudal.now() where event_id = $1', [
      test,
    ]);
    await stage.stack.shiftTime(MINUTE);
    await merchant.waitForDelivery(test, endpoint, 'FAILED');
    await stage.shiftTime(10 * DAY);
    await merchant.waitForDelivery(await merchant.declinePayout(), endpoint, 'PENDING', 1);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED', disabledReason: null });
  });

  it('after five days without a success, and not before', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const eventId = await merchant.declinePayout();
    await merchant.waitForDelivery(eventId, endpoint, 'PENDING', 1);
    await failFor(merchant, endpoint, 4.5);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED', disabledReason: null });
    await failFor(merchant, endpoint, 2);
    expect(await merchant.waitUntilDisabled(endpoint)).toMatchObject({
      disabledReason: 'no_success_5d',
    });
    expect(await waitForDisabledLog(endpoint)).toHaveLength(1);
  });

  it('not while a delivery succeeds in between', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const failingEvent = await merchant.declinePayout();
    await merchant.waitForDelivery(failingEvent, endpoint, 'PENDING', 1);
    await failFor(merchant, endpoint, 4);
    stage.sink.answerBy(endpoint.path, ({ id }) => ({ status: id === failingEvent ? 500 : 200 }));
    await merchant.waitForDelivery(await merchant.test(endpoint), endpoint, 'DELIVERED');
    await failFor(merchant, endpoint, 4);
    expect(await merchant.get(endpoint)).toMatchObject({ status: 'ENABLED' });
  });
});

describe('events held while an endpoint is disabled', () => {
  it('are delivered once it is enabled: the pending ones and those that occurred meanwhile', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 410 }, {});
    const before = await merchant.declinePayout();
    await merchant.waitUntilDisabled(endpoint);
    const meanwhile = [await merchant.declinePayout(), await merchant.declinePayout()];
    await merchant.waitUntilDispatched();
    await stage.stack.shiftTime(2 * DAY);
    // Another queue is processed after theirs would have been.
    const otherEndpoint = await merchant.endpoint();
    await stage.sink.waitForEvent(otherEndpoint.path, await merchant.test(otherEndpoint));
    expect(stage.sink.requestsTo(endpoint.path)).toHaveLength(1);
    for (const eventId of meanwhile)
      expect(await merchant.delivery(eventId, endpoint)).toMatchObject({
        status: 'PENDING',
        attempts: [],
        nextAttemptAt: null,
      });
    await merchant.change(endpoint, { status: 'ENABLED' });
    for (const eventId of [before, ...meanwhile])
      await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED');
    expect(stage.sink.ids(endpoint.path)).toEqual([before, ...meanwhile].sort());
  });

  it('are delivered only when younger than thirty days; older ones are FAILED and can be replayed', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 410 }, {});
    const first = await merchant.declinePayout();
    await merchant.waitUntilDisabled(endpoint);
    const old = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    await stage.stack.shiftTime(20 * DAY);
    const young = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    await stage.stack.shiftTime(11 * DAY);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await merchant.waitForDelivery(young, endpoint, 'DELIVERED', 1);
    for (const eventId of [first, old]) await merchant.waitForDelivery(eventId, endpoint, 'FAILED');
    expect(stage.sink.requestsTo(endpoint.path).map(({ id }) => id)).toEqual([first, young]);
    await merchant.api.request('POST', `/events/${old}/replay`);
    await merchant.waitForDelivery(old, endpoint, 'DELIVERED', 1);
  });

  it('are all delivered after the merchant disables and enables it, and none in between', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    await merchant.change(endpoint, { status: 'DISABLED' });
    const held = await merchant.record(120);
    await merchant.waitUntilDispatched();
    const otherEndpoint = await merchant.endpoint();
    await stage.sink.waitForEvent(otherEndpoint.path, await merchant.test(otherEndpoint));
    expect(stage.sink.requestsTo(endpoint.path)).toEqual([]);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await stage.sink.waitForRequests(endpoint.path, held.length);
    await merchant.waitUntilQueueIdle(endpoint);
    expect(stage.sink.requestsTo(endpoint.path)).toHaveLength(held.length);
    expect(stage.sink.ids(endpoint.path)).toEqual([...held].sort());
  });

  it('stay held when another field of the endpoint changes', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    await merchant.change(endpoint, { status: 'DISABLED' });
    const eventId = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    expect(
      await merchant.change(endpoint, { description: 'still closed', url: stage.sink.url(endpoint.path) }),
    ).toMatchObject({
      status: 'DISABLED',
      disabledReason: 'by_owner',
    });
    const otherEndpoint = await merchant.endpoint();
    await stage.sink.waitForEvent(otherEndpoint.path, await merchant.test(otherEndpoint));
    expect(stage.sink.requestsTo(endpoint.path)).toEqual([]);
    expect(await merchant.delivery(eventId, endpoint)).toMatchObject({
      status: 'PENDING',
      nextAttemptAt: null,
    });
  });
});

describe('an endpoint with a new URL', () => {
  it('is attempted immediately, however long the old URL has been failing', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const waiting = await merchant.declinePayout();
    await merchant.waitForDelivery(waiting, endpoint, 'PENDING', 1);
    await failFor(merchant, endpoint, 2);
    const attempts = await countAttempts(endpoint);
    const fresh = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    const path = stage.newPath();
    await merchant.change(endpoint, { url: stage.sink.url(path) });
    await within('delivery to the new URL', 5000, () => stage.sink.waitForEvent(path, fresh));
    await merchant.waitForDelivery(fresh, endpoint, 'DELIVERED');
    // The failed delivery keeps its next attempt time.
    expect(await countAttempts(endpoint)).toBeGreaterThan(attempts);
    await stage.stack.shiftTime(DAY * 1.1);
    await merchant.waitForDelivery(waiting, endpoint, 'DELIVERED');
    await stage.sink.waitForEvent(path, waiting);
  });
});

describe('an event that fails to decrypt', () => {
  it('is postponed and blocks no other event', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    await merchant.change(endpoint, { status: 'DISABLED' });
    const [broken = '', intact = ''] = await merchant.record(2);
    await stage.query("update caudal.events set payload = '\\x00' where id = $1", [broken]);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await stage.sink.waitForEvent(endpoint.path, intact);
    await merchant.waitForDelivery(intact, endpoint, 'DELIVERED');
    const [row] = await stage.query<{ status: string; attempts: number; later: boolean }>(
      "select status, attempts, next_attempt_at > caudal.now() + interval '5 minutes' as later from caudal.webhook_deliveries where event_id = $1",
      [broken],
    );
    expect(row).toEqual({ status: 'PENDING', attempts: 0, later: true });
    expect(stage.sink.requestsTo(endpoint.path).map(({ id }) => id)).toEqual([intact]);
  });
});
