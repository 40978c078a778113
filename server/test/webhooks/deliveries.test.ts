import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import type { SinkRequest } from '../harness/webhook-sink.ts';
import { type DeliveryBody, expected, Merchant, WebhookStage } from './webhook-stage.ts';

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** What a merchant without any library would write. */
function isSigned({ headers, body }: SinkRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`;
  const mac = createHmac('sha256', key).update(signed).update(body).digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${mac}`);
}

function verified({ headers, body }: SinkRequest, secret: string): unknown {
  return new Webhook(secret).verify(body.toString('utf8'), headers as Record<string, string>);
}

describe('what happened arrives', () => {
  /** With money of its own: the stack's. */
  async function rich(): Promise<Merchant> {
    const principal = await stage.inside.principalOf(stage.stack.organization.apiKey);
    return new Merchant(stage, { id: principal.organization.id, principal, api: stage.stack.api });
  }

  async function arrived(merchant: Merchant, resourceId: string, path: string, secret: string) {
    const eventId = await merchant.eventOf(resourceId);
    const request = await stage.sink.receivesEvent(path, eventId);
    const { deliveries: _, ...event } = await merchant.event(eventId);
    expect(request.body.toString('utf8')).toBe(JSON.stringify(event));
    expect(verified(request, secret)).toEqual(event);
    expect(isSigned(request, secret)).toBe(true);
    return { request, event };
  }

  it('a confirmed payin and a confirmed payout, with the body of GET /events/{id}, signed', async () => {
    const merchant = await rich();
    const { path, secret } = await merchant.endpoint();
    const payins = new PayinDriver(stage.stack);
    const { payin, key } = await payins.breb();
    await payins.simulator.pay({ key });
    await payins.reaches(payin.id, 'CONFIRMED');
    const paid = await arrived(merchant, payin.id, path, secret);
    expect(paid.event).toMatchObject({ event: 'payin.confirmed', resource: 'payin', data: { id: payin.id } });
    expect(paid.request.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Caudal-Webhooks/1.0',
      'webhook-id': paid.event.id,
    });
    const clock = Number(paid.request.headers['webhook-timestamp']) - Date.now() / 1000;
    expect(Math.abs(clock)).toBeLessThan(60);

    const payouts = new PayoutDriver(stage.stack);
    await payouts.fund();
    const { id } = await payouts.create();
    await payouts.reaches(id, 'CONFIRMED');
    const sent = await arrived(merchant, id, path, secret);
    expect(sent.event).toMatchObject({ event: 'payout.confirmed', resource: 'payout', data: { id } });
    expect(stage.sink.at(path)).toHaveLength(2);
  });

  it('a body with letters beyond ASCII is signed over its bytes', async () => {
    const merchant = await stage.merchant();
    const { path, secret } = await merchant.endpoint();
    const [eventId = ''] = await merchant.record(1);
    const request = await stage.sink.receivesEvent(path, eventId);
    expect(request.body.length).toBeGreaterThan(request.body.toString('utf8').length);
    expect(Number(request.headers['content-length'])).toBe(request.body.length);
    expect(verified(request, secret)).toMatchObject({ data: { name: 'Ñandú 🦤 S.A.S.' } });
    expect(isSigned(request, secret)).toBe(true);
    expect(isSigned({ ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) }, secret)).toBe(
      false,
    );
  });
});

it('of an answer that is longer than anybody reads the merchant sees the first 512 bytes', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint({}, { body: 'a'.repeat(64 * 1024 + 1) });
  const { attempts } = await merchant.reaches(await merchant.declined(), endpoint, 'DELIVERED', 1);
  expect(attempts).toMatchObject([{ statusCode: 200, error: null, answer: 'a'.repeat(512) }]);
});

it('once everything has come, nobody looks at the line any more, until something happens', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint();
  const written = () =>
    stage.query('select xmin::text from caudal.webhook_queues where endpoint_id = $1', [endpoint.id]);
  await stage.sink.receivesEvent(endpoint.path, await merchant.declined());
  await merchant.lineRests(endpoint);
  const before = await written();
  // Somebody else's line is worked meanwhile, more than once.
  const busy = await stage.merchant();
  const other = await busy.endpoint();
  for (let round = 0; round < 3; round += 1)
    await stage.sink.receivesEvent(other.path, await busy.declined());
  expect(await written()).toEqual(before);
  await stage.sink.receivesEvent(endpoint.path, await merchant.declined());
});

describe('to whom', () => {
  it('an endpoint gets the events that it names and no others, and one without names gets all', async () => {
    const merchant = await stage.merchant();
    const all = await merchant.endpoint();
    const some = await merchant.endpoint({ events: ['payin.confirmed', 'payout.confirmed'] });
    const [declined = ''] = await merchant.record(1, 'payout.declined');
    const [confirmed = ''] = await merchant.record(1, 'payout.confirmed');
    await stage.sink.receivesEvent(some.path, confirmed);
    await stage.sink.receives(all.path, 2);
    expect(stage.sink.ids(all.path)).toEqual([declined, confirmed].sort());
    expect(stage.sink.ids(some.path)).toEqual([confirmed]);
    expect(await merchant.delivery(declined, some)).toBeNull();
  });

  it('an endpoint that came later gets what happens from then on, and nothing of before', async () => {
    const merchant = await stage.merchant();
    const first = await merchant.endpoint();
    const before = await merchant.declined();
    const later = await merchant.endpoint();
    const after = await merchant.declined();
    await stage.sink.receivesEvent(first.path, before);
    await stage.sink.receivesEvent(later.path, after);
    expect(stage.sink.ids(later.path)).toEqual([after]);
    expect(await merchant.delivery(before, later)).toBeNull();
  });

  it('an event that was recorded before the endpoint, but dispatched after it, does not come either', async () => {
    const merchant = await stage.merchant();
    let made: { path: string; id: string } | null = null;
    const [early = ''] = await merchant.record(1, 'payout.declined', async () => {
      made = await merchant.endpoint();
    });
    const later = made as unknown as { path: string; id: string };
    const after = await merchant.declined();
    await stage.sink.receivesEvent(later.path, after);
    expect(stage.sink.ids(later.path)).toEqual([after]);
    expect(await merchant.delivery(early, later)).toBeNull();
  });

  it("another organization's events never come", async () => {
    const [ours, theirs] = [await stage.merchant(), await stage.merchant()];
    const [mine, other] = [await ours.endpoint(), await theirs.endpoint()];
    const eventId = await theirs.declined();
    await stage.sink.receivesEvent(other.path, eventId);
    const own = await ours.declined();
    await stage.sink.receivesEvent(mine.path, own);
    expect(stage.sink.ids(mine.path)).toEqual([own]);
  });
});

describe('the header of the merchant’s choice', () => {
  it('is on every delivery, beside ours', async () => {
    const merchant = await stage.merchant();
    const { path, id, secret } = await merchant.endpoint({
      staticHeader: { name: 'X-Gateway', value: 'a b;c="d"' },
    });
    await merchant.declined();
    const [request] = await stage.sink.receives(path, 1);
    if (!request) throw new Error('nothing came');
    expect(request.headers['x-gateway']).toBe('a b;c="d"');
    expect(isSigned(request, secret)).toBe(true);
    await merchant.change({ id }, { staticHeader: null });
    await merchant.declined();
    const [, second] = await stage.sink.receives(path, 2);
    expect(second?.headers['x-gateway']).toBeUndefined();
  });

  it('authorization is allowed; whatever spelling of one of ours is not', async () => {
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
    await merchant.declined();
    const [request] = await stage.sink.receives(path, 1);
    expect(request?.headers.authorization).toBe('Bearer gateway');
  });
});

describe('GET /events', () => {
  it('by a name gives the events of that name, the test event too', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const [declined, test] = [await merchant.declined(), await merchant.test(endpoint)];
    const named = async (query: string) =>
      expected(await merchant.api.get<{ data: { id: string }[] }>(`/events${query}`), 200).data.map(
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

  it('lists every delivery once, newest event first, page by page and back', async () => {
    const merchant = await stage.merchant();
    const { path, id } = await merchant.endpoint({}, { status: 201, body: 'thanks' });
    const ids = await merchant.record(7);
    await stage.sink.receives(path, 7);
    for (const eventId of ids) await merchant.reaches(eventId, { id }, 'DELIVERED');
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

  it('a cursor of one endpoint does not serve another', async () => {
    const merchant = await stage.merchant();
    const [one, other] = [await merchant.endpoint(), await merchant.endpoint()];
    await merchant.record(2);
    await stage.sink.receives(one.path, 2);
    const { body } = await merchant.api.get<Page>(`/webhook-endpoints/${one.id}/deliveries?pageSize=1`);
    const cursor = body.pageInfo.nextCursor ?? '';
    expect(cursor).not.toBe('');
    const wrong = await merchant.api.get(`/webhook-endpoints/${other.id}/deliveries?cursor=${cursor}`);
    expect([wrong.status, wrong.body['code']]).toEqual([400, 'cursor_invalid']);
  });
});
