import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { within } from '../../../scripts/testing/expect-within.ts';
import { uuidMs } from '../../src/kit/ids.ts';
import { withScopes } from '../harness/payout-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { until } from '../harness/until.ts';
import { EventReader } from './event-reader.ts';
import { Merchant, WebhookStage } from './webhook-stage.ts';

const MAX_STREAMS = 10;

let stage: WebhookStage;
/** A stream of an organization without events, open during all tests. */
let idleReader: EventReader;
const readers: EventReader[] = [];
beforeAll(async () => {
  stage = await WebhookStage.open({ workers: 0 });
  idleReader = await (await newFollower()).follow();
});
afterAll(async () => {
  for (const reader of readers) reader.disconnect();
  await stage?.close();
});

/** An organization with streams of its events. */
async function newFollower() {
  const { principal, apiKey } = await stage.inProcess.newOrganization();
  const api = stage.stack.api.as(apiKey);
  const merchant = new Merchant(stage, { id: principal.organization.id, principal, api });
  const open = async (
    streamOptions: Parameters<typeof EventReader.open>[2] = {},
    url = stage.stack.apis[0]?.url ?? '',
  ) => {
    const reader = await EventReader.open(url, apiKey, streamOptions);
    readers.push(reader);
    return reader;
  };
  return {
    merchant,
    open,
    follow: async (...args: Parameters<typeof open>) => (await open(...args)).waitForStart(),
  };
}

describe('GET /events/stream', () => {
  it('sends new events in ID order, with the body of GET /events/{id}', async () => {
    const { merchant, follow } = await newFollower();
    const before = await merchant.declinePayout();
    const reader = await follow();
    expect(reader.headers.get('content-type')).toBe('text/event-stream');
    expect(reader.headers.get('cache-control')).toBe('no-store');
    const many = await merchant.record(150);
    await reader.waitForEvents(...many);
    const last = await merchant.declinePayout();
    await reader.waitForEvents(last);
    expect(reader.ids).toEqual([...many, last]);
    expect(reader.ids).not.toContain(before);
    const { deliveries: _, ...event } = await merchant.event(last);
    expect(reader.events.at(-1)).toEqual({ id: last, event: 'payout.declined', data: event });
  });

  it('never sends events of another organization', async () => {
    const [ours, theirs] = [await newFollower(), await newFollower()];
    const reader = await ours.follow();
    const other = await theirs.follow();
    const othersEvents = await theirs.merchant.record(5);
    await other.waitForEvents(...othersEvents);
    const own = await ours.merchant.declinePayout();
    await reader.waitForEvents(own);
    expect(reader.ids).toEqual([own]);
    const resumed = await ours.open({ lastEventId: othersEvents[0] ?? '' });
    await resumed.waitForEvents(own);
    expect(resumed.ids).toEqual([own]);
  });

  it('sends only events of the requested name', async () => {
    const { merchant, follow } = await newFollower();
    const reader = await follow({ query: '?event=payin.confirmed' });
    await merchant.record(3, 'payout.declined');
    const [wanted = ''] = await merchant.record(1, 'payin.confirmed');
    await reader.waitForEvents(wanted);
    expect(reader.ids).toEqual([wanted]);
  });

  it('sends an event whose transaction commits after a later one was streamed', async () => {
    const { merchant, follow } = await newFollower();
    const reader = await follow();
    let newer = '';
    const [late = ''] = await merchant.record(1, 'payout.declined', async () => {
      [newer = ''] = await merchant.record(1);
      await reader.waitForEvents(newer);
    });
    expect(late < newer).toBe(true);
    await reader.waitForEvents(late);
    expect(reader.ids).toEqual([newer, late]);
  });

  it('sends an event whose commit waited for minutes, as with a missing standby', async () => {
    const { merchant, follow } = await newFollower();
    const reader = await follow();
    const [late = ''] = await merchant.record(1, 'payout.declined', async () => {
      await stage.shiftTime(5 * 60_000);
      // Two more polls, so that the position has moved past it.
      for (let poll = 0; poll < 2; poll += 1) await reader.waitForEvents(...(await merchant.record(1)));
    });
    await reader.waitForEvents(late);
    expect(reader.ids.at(-1)).toBe(late);
  });

  it('sends a position to resume from before the first event', async () => {
    const { merchant, follow, open } = await newFollower();
    const reader = await follow();
    expect(reader.startPosition).toMatch(/^[0-9a-f-]{36}$/);
    reader.disconnect();
    const missed = await merchant.declinePayout();
    const resumed = await open({ lastEventId: reader.startPosition ?? '' });
    await resumed.waitForEvents(missed);
  });

  it('ends when its API key is revoked', async () => {
    const { principal, apiKey } = await stage.inProcess.newOrganization();
    const reader = await EventReader.open(stage.stack.apis[0]?.url ?? '', apiKey);
    await reader.waitForStart();
    await stage.stack.command('keys', 'revoke', principal.keyId);
    expect(await reader.closed).toBe('closed');
  });

  it('requires events:read', async () => {
    const merchant = await stage.merchant();
    const api = await withScopes(stage.inProcess, merchant.shop, 'events:write', 'webhooks:read');
    expect((await api.get('/events/stream')).status).toBe(403);
  });
});

describe('a resumed stream', () => {
  it.each([
    ['Last-Event-ID', (id: string) => ({ lastEventId: id })],
    ['?after=', (id: string) => ({ query: `?after=${id}` })],
    ['an upper-case Last-Event-ID', (id: string) => ({ lastEventId: id.toUpperCase() })],
  ])('with %s sends all later events and repeats those of the minute before', async (_, streamOptions) => {
    const { merchant, follow, open } = await newFollower();
    const first = await follow();
    const seen = await merchant.record(3);
    await first.waitForEvents(...seen);
    first.disconnect();
    const missed = [...(await merchant.record(120)), ...(await merchant.record(1))];
    const resumed = await open(streamOptions(seen[1] ?? ''));
    await resumed.waitForEvents(...missed);
    expect(resumed.ids).toEqual([...seen, ...missed]);
    const [live = ''] = await merchant.record(1);
    await resumed.waitForEvents(live);
    expect(resumed.ids).toEqual([...seen, ...missed, live]);
  });

  it('repeats only the last minute before that event', async () => {
    const { merchant, open } = await newFollower();
    const older = await merchant.declinePayout();
    await stage.shiftTime(120_000);
    const before = await merchant.declinePayout();
    await stage.shiftTime(30_000);
    const [last, after] = [await merchant.declinePayout(), await merchant.declinePayout()];
    const resumed = await open({ lastEventId: last });
    await resumed.waitForEvents(after);
    // More than thirty seconds may have passed between them.
    expect(resumed.ids).toEqual([before, last, after].filter((id) => uuidMs(id) > uuidMs(last) - 60_000));
    expect(resumed.ids).not.toContain(older);
  });

  it('sends an event that was uncommitted when the previous stream broke', async () => {
    const { merchant, follow, open } = await newFollower();
    const first = await follow();
    let newer = '';
    const [late = ''] = await merchant.record(1, 'payout.declined', async () => {
      [newer = ''] = await merchant.record(1);
      await first.waitForEvents(newer);
      first.disconnect();
    });
    expect(first.ids).not.toContain(late);
    const resumed = await open({ lastEventId: newer });
    await resumed.waitForEvents(late, newer);
    expect(resumed.ids).toEqual([late, newer]);
  });

  it('rejects an invalid event ID', async () => {
    const { merchant } = await newFollower();
    const answer = await merchant.api.get('/events/stream', { 'last-event-id': 'the last one' });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_request']);
  });
});

describe('the stream limit', () => {
  it('is ten per organization; the eleventh stream is rejected', async () => {
    const { merchant, follow, open } = await newFollower();
    const first = await follow();
    for (let count = 1; count < MAX_STREAMS; count += 1) await follow();
    const rejected = await merchant.api.get('/events/stream');
    expect([rejected.status, rejected.body['code']]).toEqual([429, 'too_many_streams']);
    await (await newFollower()).follow();
    first.disconnect();
    const next = await within('freeing its slot', 5000, () =>
      until('its slot is free', async () => {
        const reader = await open();
        return reader.status === 200 ? reader : null;
      }),
    );
    await next.waitForStart();
    const eventId = await merchant.declinePayout();
    await next.waitForEvents(eventId);
  });

  it('frees the slots of clients that disconnected', async () => {
    const { follow } = await newFollower();
    const [api] = stage.stack.apis;
    if (!api) throw new Error('no API');
    // The streams of the other tests.
    const before = readers.filter(({ isOpen }) => isOpen).length;
    const countsStreams = (count: number) => async () =>
      (await readMetric(api, 'caudal_event_streams')) === count;
    await until('streams that ended are counted no more', countsStreams(before));
    const opened = [];
    for (let count = 0; count < MAX_STREAMS; count += 1) opened.push(await follow());
    expect(await readMetric(api, 'caudal_event_streams')).toBe(before + MAX_STREAMS);
    for (const reader of opened) reader.disconnect();
    await within('freeing the slots', 5000, () => until('they are free', countsStreams(before)));
  });
});

describe('the end of a stream', () => {
  it('is clean on SIGTERM, and the client resumes at another process without gaps', async () => {
    const { merchant, follow, open } = await newFollower();
    const other = await startServer('api', { ...stage.stack.settings, CAUDAL_PORT: '0' });
    const reader = await follow({}, `http://127.0.0.1:${String(other.ready['port'])}`);
    const seen = await merchant.declinePayout();
    await reader.waitForEvents(seen);
    const [ended, code] = await Promise.all([reader.closed, other.stop()]);
    expect([ended, code]).toEqual(['closed', 0]);
    const meanwhile = await merchant.declinePayout();
    const resumed = await open({ lastEventId: seen });
    await resumed.waitForEvents(meanwhile);
    expect(resumed.ids).toEqual([seen, meanwhile]);
  });

  it('does not come without events: a heartbeat is sent every 15 seconds', async () => {
    await until('the second heartbeat', () => Promise.resolve(idleReader.heartbeats >= 2));
    expect(idleReader.events).toEqual([]);
  });
});
