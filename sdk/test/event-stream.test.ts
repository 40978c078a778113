import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { stopwatch } from '../../scripts/testing/expect-within.ts';
import { until } from '../../server/test/harness/until.ts';
import { type Caudal, type CaudalError, UnexpectedAnswerError } from '../src/index.ts';
import { idForTimestamp, SeenEvents, timestampFromId } from '../src/seen-events.ts';
import {
  cut,
  type FaultyServer,
  faultyServer,
  json,
  problem,
  type ReceivedRequest,
  thrownBy,
} from './faulty-server.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
/** An event id with a time offset from NOW, in milliseconds. */
const id = (ms: number) => idForTimestamp(NOW + ms);

function frame(eventId: string): string {
  return `id: ${eventId}\nevent: payin.confirmed\ndata: ${JSON.stringify({ id: eventId, event: 'payin.confirmed' })}\n\n`;
}

/** Sends these events, then cuts, ends or keeps the connection. */
function stream(ids: readonly string[], then: 'cut' | 'end' | 'stay' = 'stay') {
  return (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: 2000\n\n:\n\n${ids.map(frame).join('')}`, () => {
      if (then === 'cut') response.destroy();
      if (then === 'end') response.end();
    });
  };
}

type Responder = (response: ServerResponse, request: ReceivedRequest) => void;

/** A server with these listed events, newest first, and these stream responses. */
async function events(
  listed: readonly string[],
  ...responders: readonly [Responder, ...Responder[]]
): Promise<Streams> {
  let requestCount = 0;
  const server = await faultyServer((response, request) => {
    if (request.path.startsWith('/events/stream')) {
      requestCount += 1;
      return responders[Math.min(requestCount, responders.length) - 1]?.(response, request);
    }
    const data = listed.map((each) => ({ id: each, event: 'payin.confirmed' }));
    json({ data, pageInfo: { nextCursor: null } })(response, request);
  });
  return {
    ...server,
    streams: () => server.requests.filter(({ path }) => path.startsWith('/events/stream')),
  };
}

interface Streams extends FaultyServer {
  streams(): ReceivedRequest[];
}

/** Reads the stream until `count` events arrived. */
async function follow(caudal: Caudal, count: number, options: object = {}): Promise<string[]> {
  const got: string[] = [];
  for await (const event of caudal.events.stream(options)) if (got.push(event.id) >= count) break;
  return got;
}

describe('the event stream', () => {
  it('resumes after a disconnect and yields each event once', async () => {
    const server = await events(
      [],
      stream([id(1), id(2)], 'cut'),
      stream([id(1), id(2), id(3)], 'end'),
      cut,
      stream([id(2), id(3), id(4)]),
    );
    expect(await follow(server.client(), 4)).toEqual([id(1), id(2), id(3), id(4)]);
    expect(server.streams().map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      id(2),
      id(3),
      id(3),
    ]);
  });

  it('resumes from its start after a disconnect before the first event', async () => {
    const openedAt = new Date(1_790_000_000_000);
    const server = await events(
      [],
      (response) => {
        // The start of the stream by the clock of the server.
        response.setHeader('date', openedAt.toUTCString());
        stream([], 'cut')(response);
      },
      stream([id(10)]),
    );
    expect(await follow(server.client(), 1)).toEqual([id(10)]);
    const [first, resumed] = server.streams().map(({ headers }) => headers['last-event-id']);
    expect(first).toBeUndefined();
    expect(resumed).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7000-8000-0{12}$/);
    expect(timestampFromId(String(resumed))).toBe(openedAt.getTime());
  });

  it('starts now: skips resent older events, but yields events committed late', async () => {
    const before = [id(-10), id(-2_000), id(-50_000), id(-90_000)];
    // Its id is older than the stream start, but it was committed later.
    const late = id(-5);
    const server = await events(
      before,
      stream([], 'cut'),
      stream([id(-50_000), id(-2_000), id(-10), late, id(5)]),
    );
    expect(await follow(server.client(), 2)).toEqual([late, id(5)]);
    expect(server.streams().map(({ headers }) => headers['last-event-id'])).toEqual([id(-10), id(-10)]);
  });

  it('starts now when one minute has more events than it reads', async () => {
    const before = Array.from({ length: 1_200 }, (_, index) => id(-index));
    const server = await events(before, stream([...before, id(1)]));
    expect(await follow(server.client(), 1)).toEqual([id(1)]);
  });

  it('resumes after lastEventId without yielding that event again', async () => {
    const server = await events([], stream([id(-90_000), id(-80_000), id(-70_000)]));
    const got = await follow(server.client(), 2, { lastEventId: id(-80_000) });
    expect(got).toEqual([id(-90_000), id(-70_000)]);
    expect(server.streams()[0]?.headers['last-event-id']).toBe(id(-80_000));
  });

  it('resumes after the newest event, not the last received', async () => {
    const server = await events([], stream([id(5), id(3)], 'cut'), stream([id(6)]));
    expect(await follow(server.client(), 3)).toEqual([id(5), id(3), id(6)]);
    expect(server.streams()[1]?.headers['last-event-id']).toBe(id(5));
  });

  it('filters by event name on request', async () => {
    const server = await events([], stream([id(1)]));
    await follow(server.client(), 1, { event: 'payin.confirmed' });
    expect(server.streams()[0]?.path).toBe('/events/stream?event=payin.confirmed');
  });

  it('calls onConnect and onBreak for each connect and disconnect', async () => {
    const calls: string[] = [];
    const server = await events([], stream([id(1)], 'end'), problem(503, 'overloaded'), stream([id(2)]));
    await follow(server.client(), 2, {
      onConnect: () => calls.push('connected'),
      onBreak: (error: CaudalError | null) => calls.push(error === null ? 'ended' : error.name),
    });
    expect(calls).toEqual(['connected', 'ended', 'ApiError', 'connected']);
  });

  it.each([401, 403, 400])('throws the ApiError for status %i, also after a disconnect', async (status) => {
    const server = await events([], stream([id(1)], 'cut'), problem(status, 'unauthorized'));
    expect(await thrownBy(follow(server.client(), 2))).toMatchObject({ name: 'ApiError', status });
    expect(server.streams()).toHaveLength(2);
  });

  it('throws after maxRetries when the server does not respond', async () => {
    const server = await faultyServer(cut);
    expect(await thrownBy(follow(server.client({ maxRetries: 1 }), 1))).toMatchObject({
      name: 'ConnectionError',
      operation: 'events.stream',
      attempts: 2,
    });
    expect(server.requests).toHaveLength(2);
  });

  it('throws after maxRetries when it cannot connect', async () => {
    const server = await events([], cut);
    expect(await thrownBy(follow(server.client({ maxRetries: 1 }), 1))).toMatchObject({
      name: 'ConnectionError',
      attempts: 2,
      outcomeUnknown: false,
    });
    expect(server.streams()).toHaveLength(2);
  });

  it('throws when the response is not an event stream', async () => {
    const server = await events([], json({ hello: 1 }));
    expect(await thrownBy(follow(server.client(), 1))).toBeInstanceOf(UnexpectedAnswerError);
  });

  it('waits for Retry-After on too_many_streams', async () => {
    const server = await events(
      [],
      problem(429, 'too_many_streams', { 'retry-after': '1' }),
      stream([id(1)]),
    );
    const elapsedMs = stopwatch();
    await follow(server.client(), 1);
    expect(elapsedMs()).toBeGreaterThan(950);
  });

  it('ends without an error when the caller aborts, while reading and while waiting', async () => {
    const server = await events([], stream([id(1)]), problem(503, 'overloaded', { 'retry-after': '20' }));
    for (const count of [1, 2]) {
      const ending = new AbortController();
      const ended = follow(server.client(), 9, { signal: ending.signal });
      await until('the stream is requested', () => Promise.resolve(server.streams().length === count));
      ending.abort();
      expect((await ended).length).toBeLessThan(2);
    }
  });

  it('closes the connection when the loop is left', async () => {
    let closed = false;
    const server = await events([], (response) => {
      response.once('close', () => (closed = true));
      stream([id(1)])(response);
    });
    expect(await follow(server.client(), 1)).toHaveLength(1);
    await until('the connection is closed', () => Promise.resolve(closed));
  });

  it('keeps a bounded number of ids and still drops duplicates of the last minute', () => {
    const seen = new SeenEvents();
    for (let ms = 0; ms < 600_000; ms += 100) expect(seen.add(id(ms))).toBe(true);
    for (let ms = 540_000; ms < 600_000; ms += 100) expect(seen.add(id(ms))).toBe(false);
    expect(seen.size).toBeLessThan(1_300);
  });
});
