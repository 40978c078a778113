import { z } from 'zod';
import { LISTED_EVENT_NAMES } from '../../events/event.ts';
import type { RecordedEvent } from '../../flows/webhooks/read-events.ts';
import { isUuid } from '../../kit/ids.ts';
import { merchantOperation } from '../operation.ts';
import { fieldError, invalidRequest } from '../validation.ts';
import { EVENT_EXAMPLE } from './event.schema.ts';

const EXAMPLE = frame({ id: EVENT_EXAMPLE.id, body: EVENT_EXAMPLE });

export const streamEvents = merchantOperation({
  method: 'GET',
  path: '/events/stream',
  operationId: 'streamEvents',
  tag: 'Events',
  summary: 'Stream events',
  description:
    'Server-sent events: each event as soon as it is recorded, with its body in `data`. A stream ends after at most ten minutes; resume with `Last-Event-ID` (or `after`) to receive every event. On resume, the minute before that event is sent again, because ids are assigned before events are committed: ignore events whose `id` you already have. Without either, the stream starts with new events.',
  scope: 'events:read',
  query: z.strictObject({
    event: z.enum(LISTED_EVENT_NAMES).optional().describe('Only events with this name.'),
    after: z
      .uuid()
      .optional()
      .describe('Identifier of the last event you received, if you cannot send `Last-Event-ID`.'),
  }),
  resumable: true,
  responses: {
    200: {
      description: 'The stream. Lines that begin with a colon are keep-alive comments.',
      schema: z.string(),
      example: EXAMPLE,
      type: 'text/event-stream',
    },
  },
  problems: ['too_many_streams'],

  async handle(deps, principal, { query, lastEventId, language, stillAuthorized }) {
    const after = (lastEventId ?? query.after)?.toLowerCase() ?? null;
    // Event ids are UUIDv7: other versions contain no time to resume from.
    if (after !== null && !(isUuid(after) && after.charAt(14) === '7'))
      throw invalidRequest([fieldError('header.Last-Event-ID', 'invalid_format', language, 'format.uuid')]);
    const { startPosition, events, ended, close } = deps.streams.follow(principal, {
      after,
      event: query.event ?? null,
      allowed: stillAuthorized,
    });
    return { stream: frames(startPosition, events), ended, close };
  },
});

/**
 * The first frame is sent once the start position is fixed: a client that sees it misses no later event. It carries an
 * id, so that a client that disconnects before its first event resumes from there.
 */
async function* frames(
  startPosition: string | null,
  source: AsyncIterable<readonly RecordedEvent[]>,
): AsyncGenerator<string> {
  let first = `retry: 2000\n${startPosition === null ? '' : `id: ${startPosition}\n`}\n`;
  for await (const events of source) {
    yield first + (events.length === 0 ? ':\n\n' : events.map(frame).join(''));
    first = '';
  }
}

/** JSON contains no line breaks, so one `data` line is enough. */
function frame({ id, body }: RecordedEvent): string {
  return `id: ${id}\nevent: ${(body as { readonly event: string }).event}\ndata: ${JSON.stringify(body)}\n\n`;
}
