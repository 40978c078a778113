import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../harness/payin-answers.ts';
import { withScopes } from '../harness/payout-requests.ts';
import { until } from '../harness/until.ts';
import { expected, type Merchant, WebhookStage } from './webhook-stage.ts';

const MINUTE = 60_000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

interface Replayed {
  readonly events: number;
  readonly deliveries: number;
}

async function replay({ api }: Merchant, eventId: string): Promise<Replayed> {
  return expected(await api.request<Replayed & object>('POST', `/events/${eventId}/replay`), 202);
}

async function replayMany({ api }: Merchant, body: object): Promise<Replayed> {
  const { events, deliveries } = expected(await api.post<Replayed>('/events/replay', body), 202);
  return { events, deliveries };
}

async function now(): Promise<Date> {
  const [row] = await stage.query<{ at: Date }>('select caudal.now() as at');
  return row?.at ?? new Date(0);
}

describe('POST /events/{id}/replay', () => {
  it('brings one event again, under its id and with its body', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const [eventId, other] = [await merchant.declined(), await merchant.declined()];
    await stage.sink.receives(endpoint.path, 2);
    await merchant.reaches(eventId, endpoint, 'DELIVERED');
    expect(await replay(merchant, eventId)).toEqual({ events: 1, deliveries: 1 });
    await merchant.reaches(eventId, endpoint, 'DELIVERED', 2);
    const came = stage.sink.at(endpoint.path).filter(({ id }) => id === eventId);
    expect(came).toHaveLength(2);
    expect(came[1]?.body.equals(came[0]?.body ?? Buffer.alloc(0))).toBe(true);
    expect(stage.sink.at(endpoint.path).filter(({ id }) => id === other)).toHaveLength(1);
  });

  it('brings it once more when the first sending was still under way', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 200, delayMs: 1500 }, { status: 200 });
    const eventId = await merchant.declined();
    await stage.sink.receives(endpoint.path, 1);
    await replay(merchant, eventId);
    await merchant.reaches(eventId, endpoint, 'DELIVERED', 2);
    expect(stage.sink.at(endpoint.path).map(({ id }) => id)).toEqual([eventId, eventId]);
  });

  it('to all enabled endpoints that want it, also those that came later, and no others', async () => {
    const merchant = await stage.merchant();
    const first = await merchant.endpoint();
    const eventId = await merchant.declined();
    await merchant.reaches(eventId, first, 'DELIVERED');
    const later = await merchant.endpoint();
    const wants = await merchant.endpoint({ events: ['payout.declined'] });
    const wantsNot = await merchant.endpoint({ events: ['payin.confirmed'] });
    const closed = await merchant.endpoint();
    await merchant.change(closed, { status: 'DISABLED' });
    const deleted = await merchant.endpoint();
    await merchant.api.request('DELETE', `/webhook-endpoints/${deleted.id}`);
    expect(await replay(merchant, eventId)).toEqual({ events: 1, deliveries: 3 });
    for (const { path } of [later, wants]) await stage.sink.receivesEvent(path, eventId);
    await merchant.reaches(eventId, first, 'DELIVERED', 2);
    const { deliveries } = await merchant.event(eventId);
    expect(deliveries.map(({ webhookEndpointId }) => webhookEndpointId).sort()).toEqual(
      [first.id, later.id, wants.id].sort(),
    );
    for (const { path } of [wantsNot, closed, deleted]) expect(stage.sink.at(path)).toEqual([]);
  });

  it('begins the delays anew', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 500 });
    const eventId = await merchant.declined();
    let delivery = await merchant.reaches(eventId, endpoint, 'PENDING', 1);
    while (delivery.attempts.length < 3) {
      await stage.shiftHeard(6 * MINUTE);
      delivery = await merchant.reaches(eventId, endpoint, 'PENDING', delivery.attempts.length + 1);
    }
    expect(Date.parse(delivery.nextAttemptAt ?? '')).toBeGreaterThan((await now()).getTime() + 20 * MINUTE);
    await replay(merchant, eventId);
    delivery = await merchant.reaches(eventId, endpoint, 'PENDING', 4);
    const last = Date.parse(delivery.attempts.at(-1)?.at ?? '');
    expect(Date.parse(delivery.nextAttemptAt ?? '') - last).toBeGreaterThanOrEqual(5000);
    // Five seconds, and the line itself rests for eight after its fourth failure.
    expect(Date.parse(delivery.nextAttemptAt ?? '') - last).toBeLessThanOrEqual(9000);
    stage.sink.answer(endpoint.path, {});
    await stage.shiftHeard(9000);
    await merchant.reaches(eventId, endpoint, 'DELIVERED', 5);
  });

  it('an event older than thirty days comes too, and is tried for three', async () => {
    const merchant = await stage.merchant();
    const eventId = await merchant.declined();
    await merchant.dispatched();
    await stage.shiftHeard(40 * 24 * 60 * MINUTE);
    const endpoint = await merchant.endpoint({}, { status: 500 }, {});
    expect(await replay(merchant, eventId)).toEqual({ events: 1, deliveries: 1 });
    await merchant.reaches(eventId, endpoint, 'PENDING', 1);
    await stage.shiftHeard(6000);
    await merchant.reaches(eventId, endpoint, 'DELIVERED', 2);
  });

  it("an unknown event and another organization's are not found, and nothing is sent", async () => {
    const [merchant, stranger] = [await stage.merchant(), await stage.merchant()];
    const [endpoint, theirs] = [await merchant.endpoint(), await stranger.endpoint()];
    const eventId = await merchant.declined();
    await merchant.reaches(eventId, endpoint, 'DELIVERED');
    for (const [{ api }, id] of [
      [merchant, randomUUID()],
      [stranger, eventId],
    ] as const)
      expect(problemOf(await api.request('POST', `/events/${id}/replay`))).toEqual({
        status: 404,
        code: 'not_found',
      });
    expect(problemOf(await stranger.api.get(`/events/${eventId}`))).toMatchObject({ status: 404 });
    const own = await stranger.declined();
    await stage.sink.receivesEvent(theirs.path, own);
    expect(stage.sink.ids(theirs.path)).toEqual([own]);
    expect(stage.sink.at(endpoint.path)).toHaveLength(1);
  });

  it('needs events:write', async () => {
    const merchant = await stage.merchant();
    const eventId = await merchant.declined();
    const reader = await withScopes(stage.inside, merchant.shop, 'events:read', 'webhooks:write');
    expect((await reader.request('POST', `/events/${eventId}/replay`)).status).toBe(403);
    expect((await reader.post('/events/replay', { failedSince: '2026-01-01T00:00:00Z' })).status).toBe(403);
  });
});

describe('POST /events/replay', () => {
  it('what failed since a moment: what has failed or is failing from then on, and nothing that was received', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    let isTaken = (_id: string) => false;
    stage.sink.answerBy(endpoint.path, ({ id }) => ({ status: isTaken(id) ? 200 : 500 }));
    const early = await merchant.declined();
    await merchant.reaches(early, endpoint, 'PENDING', 1);
    await stage.shiftHeard(MINUTE);
    const failedSince = (await now()).toISOString();
    const failing = await merchant.declined();
    await merchant.dispatched();
    // A line that fails is tried with one at a time.
    await stage.shiftHeard(MINUTE);
    await merchant.reaches(failing, endpoint, 'PENDING', 1);
    isTaken = (id) => id !== early && id !== failing;
    const received = await merchant.declined();
    await merchant.dispatched();
    await stage.shiftHeard(MINUTE);
    await merchant.reaches(received, endpoint, 'DELIVERED');
    expect(await replayMany(merchant, { failedSince })).toEqual({ events: 1, deliveries: 1 });
    isTaken = () => true;
    await stage.shiftHeard(MINUTE);
    await merchant.reaches(failing, endpoint, 'DELIVERED');
    expect(await replayMany(merchant, { failedSince })).toEqual({ events: 0, deliveries: 0 });
    expect(stage.sink.at(endpoint.path).filter(({ id }) => id === received)).toHaveLength(1);
  });

  it('what failed at one endpoint is not brought again to another that has it', async () => {
    const merchant = await stage.merchant();
    const [works, fails] = [await merchant.endpoint(), await merchant.endpoint({}, { status: 500 }, {})];
    const eventId = await merchant.declined();
    await merchant.reaches(eventId, works, 'DELIVERED');
    await merchant.reaches(eventId, fails, 'PENDING', 1);
    const { createdAt } = await merchant.event(eventId);
    expect(await replayMany(merchant, { failedSince: createdAt })).toEqual({ events: 1, deliveries: 1 });
    await merchant.reaches(eventId, fails, 'DELIVERED', 2);
    expect(stage.sink.at(works.path)).toHaveLength(1);
  });

  it('many, in parts: none is left out, though some were created before others that have an earlier id', async () => {
    const merchant = await stage.merchant();
    const ids = await merchant.record(2500);
    await merchant.dispatched();
    // Where a part ends, the next one begins with events that are older by their time.
    await stage.query(
      "update caudal.events set created_at = created_at - interval '5 seconds' where organization_id = $1 and id > $2",
      [merchant.id, ids[1999]],
    );
    const endpoint = await merchant.endpoint();
    const span = { createdFrom: new Date(0).toISOString(), createdTo: '2100-01-01T00:00:00Z' };
    expect(await replayMany(merchant, span)).toEqual({ events: 2500, deliveries: 2500 });
    await until(
      'all of them came',
      () => Promise.resolve(new Set(stage.sink.ids(endpoint.path)).size === 2500),
      30_000,
    );
    const rest = expected(
      await merchant.api.post<Replayed & { nextAfter: null }>('/events/replay', {
        ...span,
        after: ids[2399],
      }),
      202,
    );
    expect(rest).toEqual({ events: 100, deliveries: 100, nextAfter: null });
  });

  it('what has FAILED for good is brought too', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, { status: 410 }, {});
    const eventId = await merchant.declined();
    const { createdAt } = await merchant.event(eventId);
    await merchant.disabled(endpoint);
    await stage.shiftHeard(31 * 24 * 60 * MINUTE);
    await merchant.change(endpoint, { status: 'ENABLED' });
    await merchant.reaches(eventId, endpoint, 'FAILED');
    expect(await replayMany(merchant, { failedSince: createdAt })).toEqual({ events: 1, deliveries: 1 });
    await merchant.reaches(eventId, endpoint, 'DELIVERED');
  });

  it('all there is, for who begins in 1970', async () => {
    const merchant = await stage.merchant();
    const eventId = await merchant.declined();
    await merchant.dispatched();
    const endpoint = await merchant.endpoint();
    const { createdAt } = await merchant.event(eventId);
    const createdTo = new Date(Date.parse(createdAt) + 1).toISOString();
    expect(await replayMany(merchant, { createdFrom: new Date(0).toISOString(), createdTo })).toEqual({
      events: 1,
      deliveries: 1,
    });
    await merchant.reaches(eventId, endpoint, 'DELIVERED');
  });

  it('all of a span: from its beginning to before its end, received or not, to all that want them', async () => {
    const merchant = await stage.merchant();
    const outside = await merchant.declined();
    await stage.shiftHeard(MINUTE);
    const inside = [await merchant.declined(), await merchant.declined(), await merchant.declined()];
    const { createdAt: createdFrom } = await merchant.event(inside[0] ?? '');
    await stage.shiftHeard(MINUTE);
    const edge = await merchant.declined();
    const { createdAt: createdTo } = await merchant.event(edge);
    await merchant.dispatched();
    const [one, other] = [
      await merchant.endpoint(),
      await merchant.endpoint({ events: ['payin.confirmed'] }),
    ];
    expect(await replayMany(merchant, { createdFrom, createdTo })).toEqual({ events: 3, deliveries: 3 });
    for (const eventId of inside) await merchant.reaches(eventId, one, 'DELIVERED');
    expect(
      stage.sink
        .at(one.path)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...inside].sort());
    expect(stage.sink.ids(one.path)).not.toContain(outside);
    expect(stage.sink.at(other.path)).toEqual([]);
  });

  it("touches nobody else's events, though they are of the same time", async () => {
    const [merchant, stranger] = [await stage.merchant(), await stage.merchant()];
    const [mine, theirs] = [await merchant.endpoint(), await stranger.endpoint()];
    const from = await now();
    const [own, other] = [await merchant.declined(), await stranger.declined()];
    await merchant.reaches(own, mine, 'DELIVERED');
    await stranger.reaches(other, theirs, 'DELIVERED');
    const span = {
      createdFrom: from.toISOString(),
      createdTo: new Date((await now()).getTime() + 1000).toISOString(),
    };
    expect(await replayMany(merchant, span)).toEqual({ events: 1, deliveries: 1 });
    await merchant.reaches(own, mine, 'DELIVERED', 2);
    expect((await stranger.delivery(other, theirs))?.attempts).toHaveLength(1);
  });

  it('a test event is not brought again', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const from = await now();
    const test = await merchant.test(endpoint);
    await merchant.reaches(test, endpoint, 'DELIVERED');
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
    ['what is no moment', { failedSince: 'yesterday' }, ['failedSince invalid_format']],
  ])('refuses %s', async (_, body, errors) => {
    const merchant = await stage.merchant();
    expect(problemOf(await merchant.api.post('/events/replay', body))).toMatchObject({ status: 400, errors });
  });
});
