import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopwatch } from '../../../scripts/testing/expect-within.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { withScopes } from '../harness/payout-requests.ts';
import { until } from '../harness/until.ts';
import { expectStatus, FAILS_FOR_LONG, type Merchant, WebhookStage } from './webhook-stage.ts';

const MINUTE = 60_000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
  await stage.keepHistory();
});
afterAll(() => stage?.close());

interface ReplayResult {
  readonly events: number;
  readonly deliveries: number;
}

async function replay({ api }: Merchant, eventId: string): Promise<ReplayResult> {
  return expectStatus(await api.request<ReplayResult & object>('POST', `/events/${eventId}/replay`), 202);
}

/** Follows `nextAfter`, which a request returns only after three seconds. */
async function replayMany({ api }: Merchant, body: object): Promise<ReplayResult> {
  const done = { events: 0, deliveries: 0 };
  for (let after: string | null | undefined; after !== null; ) {
    const elapsed = stopwatch();
    const { events, deliveries, nextAfter } = expectStatus(
      await api.post<ReplayResult & { nextAfter: string | null }>('/events/replay', { ...body, after }),
      202,
    );
    if (nextAfter !== null) expect(elapsed()).toBeGreaterThanOrEqual(3000);
    done.events += events;
    done.deliveries += deliveries;
    after = nextAfter;
  }
  return done;
}

async function now(): Promise<Date> {
  const [row] = await stage.query<{ at: Date }>('select caudal.now() as at');
  return row?.at ?? new Date(0);
}

describe('POST /events/{id}/replay', () => {
  it('sends an event again with the same ID and body', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const [eventId, other] = [await merchant.declinePayout(), await merchant.declinePayout()];
    await stage.sink.waitForRequests(endpoint.path, 2);
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED');
    expect(await replay(merchant, eventId)).toEqual({ events: 1, deliveries: 1 });
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 2);
    const received = stage.sink.requestsTo(endpoint.path).filter(({ id }) => id === eventId);
    expect(received).toHaveLength(2);
    expect(received[1]?.body.equals(received[0]?.body ?? Buffer.alloc(0))).toBe(true);
    expect(stage.sink.requestsTo(endpoint.path).filter(({ id }) => id === other)).toHaveLength(1);
  });

  it('sends an event once more while its first request is in flight', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 200, delayMs: 1500 }, { status: 200 });
    const eventId = await merchant.declinePayout();
    await stage.sink.waitForRequests(endpoint.path, 1);
    await replay(merchant, eventId);
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 2);
    expect(stage.sink.requestsTo(endpoint.path).map(({ id }) => id)).toEqual([eventId, eventId]);
  });

  it('sends to all enabled and subscribed endpoints, including newer ones', async () => {
    const merchant = await stage.merchant();
    const first = await merchant.endpoint();
    const eventId = await merchant.declinePayout();
    await merchant.waitForDelivery(eventId, first, 'DELIVERED');
    const later = await merchant.endpoint();
    const subscribed = await merchant.endpoint({ events: ['payout.declined'] });
    const notSubscribed = await merchant.endpoint({ events: ['payin.confirmed'] });
    const closed = await merchant.endpoint();
    await merchant.change(closed, { status: 'DISABLED' });
    const deleted = await merchant.endpoint();
    await merchant.api.request('DELETE', `/webhook-endpoints/${deleted.id}`);
    expect(await replay(merchant, eventId)).toEqual({ events: 1, deliveries: 3 });
    for (const { path } of [later, subscribed]) await stage.sink.waitForEvent(path, eventId);
    await merchant.waitForDelivery(eventId, first, 'DELIVERED', 2);
    const { deliveries } = await merchant.event(eventId);
    expect(deliveries.map(({ webhookEndpointId }) => webhookEndpointId).sort()).toEqual(
      [first.id, later.id, subscribed.id].sort(),
    );
    for (const { path } of [notSubscribed, closed, deleted]) expect(stage.sink.requestsTo(path)).toEqual([]);
  });

  it('restarts the retry delays', async () => {
    const merchant = await stage.merchant();
    const fails = { status: 500 };
    const endpoint = await merchant.endpoint({}, fails, fails, fails, fails, {});
    const eventId = await merchant.declinePayout();
    let delivery = await merchant.waitForDelivery(eventId, endpoint, 'PENDING', 1);
    while (delivery.attempts.length < 3) {
      await stage.shiftTime(6 * MINUTE);
      delivery = await merchant.waitForDelivery(eventId, endpoint, 'PENDING', delivery.attempts.length + 1);
    }
    expect(Date.parse(delivery.nextAttemptAt ?? '')).toBeGreaterThan((await now()).getTime() + 20 * MINUTE);
    await replay(merchant, eventId);
    await until('it was attempted again', async () => {
      const attempts = (await merchant.delivery(eventId, endpoint))?.attempts ?? [];
      return attempts.length >= 4;
    });
    const delayMs = (await stage.recordedAttempts(eventId, endpoint))[3]?.delayMs;
    expect(delayMs).toBeGreaterThanOrEqual(5000);
    expect(delayMs).toBeLessThanOrEqual(5500);
    // Five seconds, while the queue itself pauses for eight after its fourth failure.
    const batch = (await stage.batches(endpoint))[3];
    expect((batch?.restUntil?.getTime() ?? 0) - (batch?.releasedAt.getTime() ?? 0)).toBe(8000);
    await stage.shiftTime(9000);
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 5);
  });

  it('sends an event older than thirty days, with retries for three days', async () => {
    const merchant = await stage.merchant();
    const eventId = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    await stage.shiftTime(40 * 24 * 60 * MINUTE);
    const endpoint = await merchant.endpoint({}, { status: 500 }, {});
    expect(await replay(merchant, eventId)).toEqual({ events: 1, deliveries: 1 });
    await merchant.waitForAttempt(eventId, endpoint);
    await stage.shiftTime(6000);
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 2);
  });

  it('returns 404 for an unknown event and for one of another organization, and sends nothing', async () => {
    const [merchant, otherMerchant] = [await stage.merchant(), await stage.merchant()];
    const [endpoint, theirs] = [await merchant.endpoint(), await otherMerchant.endpoint()];
    const eventId = await merchant.declinePayout();
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED');
    for (const [{ api }, id] of [
      [merchant, randomUUID()],
      [otherMerchant, eventId],
    ] as const)
      expect(toProblem(await api.request('POST', `/events/${id}/replay`))).toEqual({
        status: 404,
        code: 'not_found',
      });
    expect(toProblem(await otherMerchant.api.get(`/events/${eventId}`))).toMatchObject({ status: 404 });
    const own = await otherMerchant.declinePayout();
    await stage.sink.waitForEvent(theirs.path, own);
    expect(stage.sink.ids(theirs.path)).toEqual([own]);
    expect(stage.sink.requestsTo(endpoint.path)).toHaveLength(1);
  });

  it('requires events:write', async () => {
    const merchant = await stage.merchant();
    const eventId = await merchant.declinePayout();
    const reader = await withScopes(stage.inProcess, merchant.shop, 'events:read', 'webhooks:write');
    expect((await reader.request('POST', `/events/${eventId}/replay`)).status).toBe(403);
    expect((await reader.post('/events/replay', { failedSince: '2026-01-01T00:00:00Z' })).status).toBe(403);
  });
});

describe('POST /events/replay', () => {
  it('with failedSince sends events that failed or are failing since then, and no delivered ones', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    let isAccepted = (_id: string) => false;
    stage.sink.answerBy(endpoint.path, ({ id }) => ({ status: isAccepted(id) ? 200 : 500 }));
    const early = await merchant.declinePayout();
    await merchant.waitForDelivery(early, endpoint, 'PENDING', 1);
    await stage.shiftTime(MINUTE);
    const failedSince = (await now()).toISOString();
    const failing = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    // A failing queue gets one delivery at a time.
    await stage.shiftTime(MINUTE);
    await merchant.waitForDelivery(failing, endpoint, 'PENDING', 1);
    isAccepted = (id) => id !== early && id !== failing;
    const received = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    await stage.shiftTime(MINUTE);
    await merchant.waitForDelivery(received, endpoint, 'DELIVERED');
    expect(await replayMany(merchant, { failedSince })).toEqual({ events: 1, deliveries: 1 });
    isAccepted = () => true;
    await stage.shiftTime(MINUTE);
    await merchant.waitForDelivery(failing, endpoint, 'DELIVERED');
    expect(await replayMany(merchant, { failedSince })).toEqual({ events: 0, deliveries: 0 });
    expect(stage.sink.requestsTo(endpoint.path).filter(({ id }) => id === received)).toHaveLength(1);
  });

  it('does not resend to an endpoint that received the event', async () => {
    const merchant = await stage.merchant();
    const [works, fails] = [await merchant.endpoint(), await merchant.endpoint({}, FAILS_FOR_LONG, {})];
    const eventId = await merchant.declinePayout();
    await merchant.waitForDelivery(eventId, works, 'DELIVERED');
    await merchant.waitForDelivery(eventId, fails, 'PENDING', 1);
    const { createdAt } = await merchant.event(eventId);
    expect(await replayMany(merchant, { failedSince: createdAt })).toEqual({ events: 1, deliveries: 1 });
    await merchant.waitForDelivery(eventId, fails, 'DELIVERED', 2);
    expect(stage.sink.requestsTo(works.path)).toHaveLength(1);
  });

  it('processes many events in parts without gaps, although creation times and IDs differ in order', async () => {
    const merchant = await stage.merchant();
    const ids = await merchant.record(2500);
    await merchant.waitUntilDispatched();
    // At the end of a part the next one starts with events of an earlier time.
    await stage.query(
      "update caudal.events set created_at = created_at - interval '5 seconds' where organization_id = $1 and id > $2",
      [merchant.id, ids[1999]],
    );
    const endpoint = await merchant.endpoint();
    const span = { createdFrom: new Date(0).toISOString(), createdTo: '2100-01-01T00:00:00Z' };
    expect(await replayMany(merchant, span)).toEqual({ events: 2500, deliveries: 2500 });
    await until('all of them arrived', () =>
      Promise.resolve(new Set(stage.sink.ids(endpoint.path)).size === 2500),
    );
    const rest = expectStatus(
      await merchant.api.post<ReplayResult & { nextAfter: null }>('/events/replay', {
        ...span,
        after: ids[2399],
      }),
      202,
    );
    expect(rest).toEqual({ events: 100, deliveries: 100, nextAfter: null });
  });

  it('includes events that are FAILED', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 410 }, {});
    const eventId = await merchant.declinePayout();
    const { createdAt } = await merchant.event(eventId);
    await merchant.waitUntilDisabled(endpoint);
    await stage.shiftTime(31 * 24 * 60 * MINUTE);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await merchant.waitForDelivery(eventId, endpoint, 'FAILED');
    expect(await replayMany(merchant, { failedSince: createdAt })).toEqual({ events: 1, deliveries: 1 });
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED');
  });

  it('accepts a span that starts in 1970', async () => {
    const merchant = await stage.merchant();
    const eventId = await merchant.declinePayout();
    await merchant.waitUntilDispatched();
    const endpoint = await merchant.endpoint();
    const { createdAt } = await merchant.event(eventId);
    const createdTo = new Date(Date.parse(createdAt) + 1).toISOString();
    expect(await replayMany(merchant, { createdFrom: new Date(0).toISOString(), createdTo })).toEqual({
      events: 1,
      deliveries: 1,
    });
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED');
  });

  it('with a span sends all its events to subscribed endpoints, delivered or not, end exclusive', async () => {
    const merchant = await stage.merchant();
    const beforeSpan = await merchant.declinePayout();
    await stage.shiftTime(MINUTE);
    const withinSpan = [
      await merchant.declinePayout(),
      await merchant.declinePayout(),
      await merchant.declinePayout(),
    ];
    const { createdAt: createdFrom } = await merchant.event(withinSpan[0] ?? '');
    await stage.shiftTime(MINUTE);
    const atEnd = await merchant.declinePayout();
    const { createdAt: createdTo } = await merchant.event(atEnd);
    await merchant.waitUntilDispatched();
    const [one, other] = [
      await merchant.endpoint(),
      await merchant.endpoint({ events: ['payin.confirmed'] }),
    ];
    expect(await replayMany(merchant, { createdFrom, createdTo })).toEqual({ events: 3, deliveries: 3 });
    for (const eventId of withinSpan) await merchant.waitForDelivery(eventId, one, 'DELIVERED');
    expect(
      stage.sink
        .requestsTo(one.path)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...withinSpan].sort());
    expect(stage.sink.ids(one.path)).not.toContain(beforeSpan);
    expect(stage.sink.requestsTo(other.path)).toEqual([]);
  });

  it('does not touch events of another organization in the same span', async () => {
    const [merchant, otherMerchant] = [await stage.merchant(), await stage.merchant()];
    const [mine, theirs] = [await merchant.endpoint(), await otherMerchant.endpoint()];
    const from = await now();
    const [own, other] = [await merchant.declinePayout(), await otherMerchant.declinePayout()];
    await merchant.waitForDelivery(own, mine, 'DELIVERED');
    await otherMerchant.waitForDelivery(other, theirs, 'DELIVERED');
    const span = {
      createdFrom: from.toISOString(),
      createdTo: new Date((await now()).getTime() + 1000).toISOString(),
    };
    expect(await replayMany(merchant, span)).toEqual({ events: 1, deliveries: 1 });
    await merchant.waitForDelivery(own, mine, 'DELIVERED', 2);
    expect((await otherMerchant.delivery(other, theirs))?.attempts).toHaveLength(1);
  });

  it('does not resend a test event', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const from = await now();
    const test = await merchant.test(endpoint);
    await merchant.waitForDelivery(test, endpoint, 'DELIVERED');
    const span = {
      createdFrom: from.toISOString(),
      createdTo: new Date((await now()).getTime() + 1000).toISOString(),
    };
    expect(await replayMany(merchant, span)).toEqual({ events: 0, deliveries: 0 });
  });

  const MOMENT = '2026-11-14T12:00:00.000Z';
  it.each([
    ['nothing', {}, ['createdFrom required', 'createdTo required']],
    ['half a span', { createdFrom: MOMENT }, ['createdTo required']],
    [
      'both',
      { failedSince: MOMENT, createdFrom: MOMENT, createdTo: MOMENT },
      ['failedSince one_or_the_other'],
    ],
    ['an invalid timestamp', { failedSince: 'yesterday' }, ['failedSince invalid_format']],
  ])('rejects %s', async (_, body, errors) => {
    const merchant = await stage.merchant();
    expect(toProblem(await merchant.api.post('/events/replay', body))).toMatchObject({ status: 400, errors });
  });
});
