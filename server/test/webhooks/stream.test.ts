import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { withScopes } from '../harness/payout-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { until } from '../harness/until.ts';
import { EventReader } from './event-reader.ts';
import { Merchant, WebhookStage } from './webhook-stage.ts';

const MOST = 10;

let stage: WebhookStage;
/** Of an organization where nothing happens, open from the beginning to the end. */
let quiet: EventReader;
const readers: EventReader[] = [];
beforeAll(async () => {
  stage = await WebhookStage.open({ workers: 0 });
  quiet = await (await newFollower()).follow();
});
afterAll(async () => {
  for (const reader of readers) reader.leave();
  await stage?.close();
});

/** An organization and streams of its events. */
async function newFollower() {
  const { principal, apiKey } = await stage.inside.newOrganization();
  const api = stage.stack.api.as(apiKey);
  const merchant = new Merchant(stage, { id: principal.organization.id, principal, api });
  const open = async (
    reading: Parameters<typeof EventReader.open>[2] = {},
    url = stage.stack.apis[0]?.url ?? '',
  ) => {
    const reader = await EventReader.open(url, apiKey, reading);
    readers.push(reader);
    return reader;
  };
  return {
    merchant,
    open,
    follow: async (...args: Parameters<typeof open>) => (await open(...args)).follows(),
  };
}

describe('a stream', () => {
  it('brings what happens from now on, in the order of the ids, each with the body of GET /events/{id}', async () => {
    const { merchant, follow } = await newFollower();
    const before = await merchant.declined();
    const reader = await follow();
    expect(reader.headers.get('content-type')).toBe('text/event-stream');
    expect(reader.headers.get('cache-control')).toBe('no-store');
    const many = await merchant.record(150);
    await reader.receives(...many);
    const last = await merchant.declined();
    await reader.receives(last);
    expect(reader.ids).toEqual([...many, last]);
    expect(reader.ids).not.toContain(before);
    const { deliveries: _, ...event } = await merchant.event(last);
    expect(reader.events.at(-1)).toEqual({ id: last, event: 'payout.declined', data: event });
  });

  it("never brings another organization's", async () => {
    const [ours, theirs] = [await newFollower(), await newFollower()];
    const reader = await ours.follow();
    const other = await theirs.follow();
    const strange = await theirs.merchant.record(5);
    await other.receives(...strange);
    const own = await ours.merchant.declined();
    await reader.receives(own);
    expect(reader.ids).toEqual([own]);
    const resumed = await ours.open({ lastEventId: strange[0] ?? '' });
    await resumed.receives(own);
    expect(resumed.ids).toEqual([own]);
  });

  it('brings only events of the name that was asked for', async () => {
    const { merchant, follow } = await newFollower();
    const reader = await follow({ query: '?event=payin.confirmed' });
    await merchant.record(3, 'payout.declined');
    const [wanted = ''] = await merchant.record(1, 'payin.confirmed');
    await reader.receives(wanted);
    expect(reader.ids).toEqual([wanted]);
  });

  it('brings an event whose transaction commits after a later one was streamed', async () => {
    const { merchant, follow } = await newFollower();
    const reader = await follow();
    let newer = '';
    const [late = ''] = await merchant.record(1, 'payout.declined', async () => {
      [newer = ''] = await merchant.record(1);
      await reader.receives(newer);
    });
    expect(late < newer).toBe(true);
    await reader.receives(late);
    expect(reader.ids).toEqual([newer, late]);
  });

  it('brings one whose commit waited for minutes, as for a standby that is away', async () => {
    const { merchant, follow } = await newFollower();
    const reader = await follow();
    const [late = ''] = await merchant.record(1, 'payout.declined', async () => {
      await stage.shiftHeard(5 * 60_000);
      // Two more looks, so that its position is where it will be.
      for (let look = 0; look < 2; look += 1) await reader.receives(...(await merchant.record(1)));
    });
    await reader.receives(late);
    expect(reader.ids.at(-1)).toBe(late);
  });

  it('says from where to resume before there was an event', async () => {
    const { merchant, follow, open } = await newFollower();
    const reader = await follow();
    expect(reader.beginning).toMatch(/^[0-9a-f-]{36}$/);
    reader.leave();
    const missed = await merchant.declined();
    const resumed = await open({ lastEventId: reader.beginning ?? '' });
    await resumed.receives(missed);
  });

  it('ends when its key is revoked', async () => {
    const { principal, apiKey } = await stage.inside.newOrganization();
    const reader = await EventReader.open(stage.stack.apis[0]?.url ?? '', apiKey);
    await reader.follows();
    await stage.stack.command('keys', 'revoke', principal.keyId);
    expect(await reader.ended).toBe('in order');
  });

  it('needs events:read', async () => {
    const merchant = await stage.merchant();
    const api = await withScopes(stage.inside, merchant.shop, 'events:write', 'webhooks:read');
    expect((await api.get('/events/stream')).status).toBe(403);
  });
});

describe('a stream that is resumed', () => {
  it.each([
    ['Last-Event-ID', (id: string) => ({ lastEventId: id })],
    ['?after=', (id: string) => ({ query: `?after=${id}` })],
    ['Last-Event-ID in capitals', (id: string) => ({ lastEventId: id.toUpperCase() })],
  ])('with %s brings all that came after, and the minute before again', async (_, reading) => {
    const { merchant, follow, open } = await newFollower();
    const first = await follow();
    const seen = await merchant.record(3);
    await first.receives(...seen);
    first.leave();
    const missed = [...(await merchant.record(120)), ...(await merchant.record(1))];
    const resumed = await open(reading(seen[1] ?? ''));
    await resumed.receives(...missed);
    expect(resumed.ids).toEqual([...seen, ...missed]);
    const [live = ''] = await merchant.record(1);
    await resumed.receives(live);
    expect(resumed.ids).toEqual([...seen, ...missed, live]);
  });

  it('of what was before that event, the last minute comes again and nothing older', async () => {
    const { merchant, open } = await newFollower();
    const older = await merchant.declined();
    await stage.shiftHeard(120_000);
    const before = await merchant.declined();
    await stage.shiftHeard(30_000);
    const [last, after] = [await merchant.declined(), await merchant.declined()];
    const resumed = await open({ lastEventId: last });
    await resumed.receives(after);
    expect(resumed.ids).toEqual([before, last, after]);
    expect(resumed.ids).not.toContain(older);
  });

  it('an event that was still uncommitted when the stream broke comes with the next one', async () => {
    const { merchant, follow, open } = await newFollower();
    const first = await follow();
    let newer = '';
    const [late = ''] = await merchant.record(1, 'payout.declined', async () => {
      [newer = ''] = await merchant.record(1);
      await first.receives(newer);
      first.leave();
    });
    expect(first.ids).not.toContain(late);
    const resumed = await open({ lastEventId: newer });
    await resumed.receives(late, newer);
    expect(resumed.ids).toEqual([late, newer]);
  });

  it('refuses what is no event’s id', async () => {
    const { merchant } = await newFollower();
    const answer = await merchant.api.get('/events/stream', { 'last-event-id': 'the last one' });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_request']);
  });
});

describe('how many', () => {
  it('an organization has ten; the eleventh is refused, and another organization has its own', async () => {
    const { merchant, follow, open } = await newFollower();
    const first = await follow();
    for (let count = 1; count < MOST; count += 1) await follow();
    const refused = await merchant.api.get('/events/stream');
    expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_streams']);
    await (await newFollower()).follow();
    first.leave();
    const next = await until(
      'its place is free',
      async () => {
        const reader = await open();
        return reader.status === 200 ? reader : null;
      },
      5000,
    );
    const eventId = await merchant.declined();
    await next.receives(eventId);
  });

  it('places of clients that vanished are free, all of them', async () => {
    const { follow } = await newFollower();
    const [api] = stage.stack.apis;
    if (!api) throw new Error('no API');
    const before = await readMetric(api, 'caudal_event_streams');
    const opened = [];
    for (let count = 0; count < MOST; count += 1) opened.push(await follow());
    expect(await readMetric(api, 'caudal_event_streams')).toBe(before + MOST);
    for (const reader of opened) reader.leave();
    await until(
      'they are free',
      async () => (await readMetric(api, 'caudal_event_streams')) === before,
      5000,
    );
  });
});

describe('the end', () => {
  it('on SIGTERM a stream ends in order and the process with it; the client resumes elsewhere and misses nothing', async () => {
    const { merchant, follow, open } = await newFollower();
    const other = await startServer('api', { ...stage.stack.settings, CAUDAL_PORT: '0' });
    const reader = await follow({}, `http://127.0.0.1:${String(other.ready['port'])}`);
    const seen = await merchant.declined();
    await reader.receives(seen);
    const [ended, code] = await Promise.all([reader.ended, other.stop()]);
    expect([ended, code]).toEqual(['in order', 0]);
    const meanwhile = await merchant.declined();
    const resumed = await open({ lastEventId: seen });
    await resumed.receives(meanwhile);
    expect(resumed.ids).toEqual([seen, meanwhile]);
  });

  it('a stream where nothing happens gives a sign of life every quarter of a minute', async () => {
    await until('the second sign', () => Promise.resolve(quiet.signsOfLife >= 2), 20_000);
    expect(quiet.events).toEqual([]);
  });
});
