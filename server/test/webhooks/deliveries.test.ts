import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import type { SinkRequest } from '../harness/webhook-sink.ts';
import { type DeliveryBody, expectStatus, Merchant, WebhookStage } from './webhook-stage.ts';

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** A receiver's verification without any library. */
function isSigned({ headers, body }: SinkRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`;
  const mac = createHmac('sha256', key).update(signed).update(body).digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${mac}`);
}

function verifyWithLibrary({ headers, body }: SinkRequest, secret: string): unknown {
  return new Webhook(secret).verify(body.toString('utf8'), headers as Record<string, string>);
}

describe('deliveries', () => {
  /** The stack's organization, which has a balance. */
  async function fundedMerchant(): Promise<Merchant> {
    const principal = await stage.inProcess.authenticate(stage.stack.organization.apiKey);
    return new Merchant(stage, { id: principal.organization.id, principal, api: stage.stack.api });
  }

  async function expectDelivered(merchant: Merchant, resourceId: string, path: string, secret: string) {
    const eventId = await merchant.findEventId(resourceId);
    const request = await stage.sink.waitForEvent(path, eventId);
    const { deliveries: _, ...event } = await merchant.event(eventId);
    expect(request.body.toString('utf8')).toBe(JSON.stringify(event));
    expect(verifyWithLibrary(request, secret)).toEqual(event);
    expect(isSigned(request, secret)).toBe(true);
    return { request, event };
  }

  it('contain the body of GET /events/{id} and a valid signature, for a confirmed payin and payout', async () => {
    const merchant = await fundedMerchant();
    const { path, secret } = await merchant.endpoint();
    const payins = new PayinDriver(stage.stack);
    const { payin, key } = await payins.breb();
    await payins.simulator.pay({ key });
    await payins.waitForStatus(payin.id, 'CONFIRMED');
    const paid = await expectDelivered(merchant, payin.id, path, secret);
    expect(paid.event).toMatchObject({ event: 'payin.confirmed', resource: 'payin', data: { id: payin.id } });
    expect(paid.request.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Caudal-Webhooks/1.0',
      'webhook-id': paid.event.id,
    });
    const arrivedAt = (performance.timeOrigin + paid.request.at) / 1000;
    const clock = Number(paid.request.headers['webhook-timestamp']) - arrivedAt;
    expect(Math.abs(clock)).toBeLessThan(60);

    const payouts = new PayoutDriver(stage.stack);
    await payouts.fund();
    const { id } = await payouts.create();
    await payouts.waitForStatus(id, 'CONFIRMED');
    const sent = await expectDelivered(merchant, id, path, secret);
    expect(sent.event).toMatchObject({ event: 'payout.confirmed', resource: 'payout', data: { id } });
    expect(stage.sink.requestsTo(path)).toHaveLength(2);
  });

  it('are signed over the bytes of a body beyond ASCII', async () => {
    const merchant = await stage.merchant();
    const { path, secret } = await merchant.endpoint();
    const [eventId = ''] = await merchant.record(1);
    const request = await stage.sink.waitForEvent(path, eventId);
    expect(request.body.length).toBeGreaterThan(request.body.toString('utf8').length);
    expect(Number(request.headers['content-length'])).toBe(request.body.length);
    expect(verifyWithLibrary(request, secret)).toMatchObject({ data: { reference: 'Ñandú 🦤 0' } });
    expect(isSigned(request, secret)).toBe(true);
    expect(isSigned({ ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) }, secret)).toBe(
      false,
    );
  });
});

it('stores the first 512 bytes of an answer that exceeds the read limit', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint({}, { body: 'a'.repeat(64 * 1024 + 1) });
  const { attempts } = await merchant.waitForDelivery(
    await merchant.declinePayout(),
    endpoint,
    'DELIVERED',
    1,
  );
  expect(attempts).toMatchObject([{ statusCode: 200, error: null, answer: 'a'.repeat(512) }]);
});

it('leaves an empty queue alone until an event occurs', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint();
  const readQueueVersion = () =>
    stage.query('select xmin::text from caudal.webhook_queues where endpoint_id = $1', [endpoint.id]);
  await stage.sink.waitForEvent(endpoint.path, await merchant.declinePayout());
  await merchant.waitUntilQueueIdle(endpoint);
  const before = await readQueueVersion();
  // Another queue is processed several times meanwhile.
  const busy = await stage.merchant();
  const other = await busy.endpoint();
  for (let round = 0; round < 3; round += 1)
    await stage.sink.waitForEvent(other.path, await busy.declinePayout());
  expect(await readQueueVersion()).toEqual(before);
  await stage.sink.waitForEvent(endpoint.path, await merchant.declinePayout());
});

describe('event routing', () => {
  it('sends an endpoint only its subscribed events, and all events without a subscription', async () => {
    const merchant = await stage.merchant();
    const all = await merchant.endpoint();
    const some = await merchant.endpoint({ events: ['payin.confirmed', 'payout.confirmed'] });
    const [declined = ''] = await merchant.record(1, 'payout.declined');
    const [confirmed = ''] = await merchant.record(1, 'payout.confirmed');
    await stage.sink.waitForEvent(some.path, confirmed);
    await stage.sink.waitForRequests(all.path, 2);
    expect(stage.sink.ids(all.path)).toEqual([declined, confirmed].sort());
    expect(stage.sink.ids(some.path)).toEqual([confirmed]);
    expect(await merchant.delivery(declined, some)).toBeNull();
  });

  it('sends a new endpoint only later events', async () => {
    const merchant = await stage.merchant();
    const first = await merchant.endpoint();
    const before = await merchant.declinePayout();
    const later = await merchant.endpoint();
    const after = await merchant.declinePayout();
    await stage.sink.waitForEvent(first.path, before);
    await stage.sink.waitForEvent(later.path, after);
    expect(stage.sink.ids(later.path)).toEqual([after]);
    expect(await merchant.delivery(before, later)).toBeNull();
  });

  it('does not send a new endpoint an earlier event that is dispatched later', async () => {
    const merchant = await stage.merchant();
    let created: { path: string; id: string } | null = null;
    const [early = ''] = await merchant.record(1, 'payout.declined', async () => {
      created = await merchant.endpoint();
    });
    const later = created as unknown as { path: string; id: string };
    const after = await merchant.declinePayout();
    await stage.sink.waitForEvent(later.path, after);
    // The newest events are dispatched first.
    await merchant.waitUntilDispatched();
    expect(stage.sink.ids(later.path)).toEqual([after]);
    expect(await merchant.delivery(early, later)).toBeNull();
  });

  it('never sends events of another organization', async () => {
    const [ours, theirs] = [await stage.merchant(), await stage.merchant()];
    const [mine, other] = [await ours.endpoint(), await theirs.endpoint()];
    const eventId = await theirs.declinePayout();
    await stage.sink.waitForEvent(other.path, eventId);
    const own = await ours.declinePayout();
    await stage.sink.waitForEvent(mine.path, own);
    expect(stage.sink.ids(mine.path)).toEqual([own]);
  });
});

describe('the static header', () => {
  it('is sent with every delivery', async () => {
    const merchant = await stage.merchant();
    const { path, id, secret } = await merchant.endpoint({
      staticHeader: { name: 'X-Gateway', value: 'a b;c="d"' },
    });
    await merchant.declinePayout();
    const [request] = await stage.sink.waitForRequests(path, 1);
    if (!request) throw new Error('no request arrived');
    expect(request.headers['x-gateway']).toBe('a b;c="d"');
    expect(isSigned(request, secret)).toBe(true);
    await merchant.change({ id }, { staticHeader: null });
    await merchant.declinePayout();
    const [, second] = await stage.sink.waitForRequests(path, 2);
    expect(second?.headers['x-gateway']).toBeUndefined();
  });

  it('may be authorization, but not one of our own headers in any case', async () => {
    const merchant = await stage.merchant();
    const { path } = await merchant.endpoint({
      staticHeader: { name: 'Authorization', value: 'Bearer gateway' },
    });
    const url = stage.sink.url(path);
    for (const name of [
      'webhook-id',
      'Webhook-Signature',
      'WEBHOOK-TIMESTAMP',
      'Content-Type',
      'User-Agent',
    ]) {
      const answer = await merchant.api.post('/webhook-endpoints', {
        url,
        staticHeader: { name, value: 'mine' },
      });
      expect(answer.status, `of ${name}`).toBe(400);
    }
    await merchant.declinePayout();
    const [request] = await stage.sink.waitForRequests(path, 1);
    expect(request?.headers.authorization).toBe('Bearer gateway');
  });
});

describe('GET /events', () => {
  it('filters by event name, also for test events', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const [declined, test] = [await merchant.declinePayout(), await merchant.test(endpoint)];
    const named = async (query: string) =>
      expectStatus(await merchant.api.get<{ data: { id: string }[] }>(`/events${query}`), 200).data.map(
        ({ id }) => id,
      );
    expect(await named('')).toEqual([test, declined]);
    expect(await named('?event=webhook.test')).toEqual([test]);
    expect(await named('?event=payout.declined')).toEqual([declined]);
  });
});

describe('GET /webhook-endpoints/{id}/deliveries', () => {
  interface Page {
    readonly data: readonly DeliveryBody[];
    readonly pageInfo: { readonly nextCursor: string | null; readonly previousCursor: string | null };
  }

  it('lists every delivery once, newest event first, in both directions', async () => {
    const merchant = await stage.merchant();
    const { path, id } = await merchant.endpoint({}, { status: 201, body: 'thanks' });
    const ids = await merchant.record(7);
    await stage.sink.waitForRequests(path, 7);
    for (const eventId of ids) await merchant.waitForDelivery(eventId, { id }, 'DELIVERED');
    const page = async (query: string) =>
      (await merchant.api.get<Page>(`/webhook-endpoints/${id}/deliveries?pageSize=3${query}`)).body;
    const first = await page('');
    const second = await page(`&cursor=${first.pageInfo.nextCursor ?? ''}`);
    const third = await page(`&cursor=${second.pageInfo.nextCursor ?? ''}`);
    const all = [first, second, third].flatMap(({ data }) => data);
    expect(all.map(({ eventId }) => eventId)).toEqual(ids.toReversed());
    expect([first.pageInfo.previousCursor, third.pageInfo.nextCursor]).toEqual([null, null]);
    expect(await page(`&cursor=${third.pageInfo.previousCursor ?? ''}`)).toEqual(second);
    for (const delivery of all)
      expect(delivery).toMatchObject({
        event: 'payout.declined',
        status: 'DELIVERED',
        nextAttemptAt: null,
        attempts: [{ statusCode: 201, error: null, answer: 'thanks' }],
      });
    expect(new Set(all.map((delivery) => delivery.id)).size).toBe(7);
  });

  it('rejects the cursor of another endpoint', async () => {
    const merchant = await stage.merchant();
    const [one, other] = [await merchant.endpoint(), await merchant.endpoint()];
    await merchant.record(2);
    await stage.sink.waitForRequests(one.path, 2);
    const { body } = await merchant.api.get<Page>(`/webhook-endpoints/${one.id}/deliveries?pageSize=1`);
    const cursor = body.pageInfo.nextCursor ?? '';
    expect(cursor).not.toBe('');
    const wrong = await merchant.api.get(`/webhook-endpoints/${other.id}/deliveries?cursor=${cursor}`);
    expect([wrong.status, wrong.body['code']]).toEqual([400, 'cursor_invalid']);
  });
});
