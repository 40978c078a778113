import { z } from 'zod';
import { EVENT_NAMES, TEST_EVENT } from '../../events/event.ts';
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
  summary: 'Follow events live',
  description:
    'Server-sent events: each event as it is recorded, with its body in `data`. A stream ends after ten minutes at the latest; resume with `Last-Event-ID` (or `after`) and nothing is missed. The minute before that event is sent again, because events are numbered before they are committed: drop by `id` what you have. Without either the stream begins now.',
  scope: 'events:read',
  query: z.strictObject({
    event: z
      .enum([...EVENT_NAMES, TEST_EVENT])
      .optional()
      .describe('Only events of this name.'),
    after: z.uuid().optional().describe('The last event you have, where you cannot send `Last-Event-ID`.'),
  }),
  resumes: true,
  responses: {
    200: {
      description: 'The stream. A line that begins with a colon says only that it is alive.',
      schema: z.string(),
      example: EXAMPLE,
      type: 'text/event-stream',
    },
  },
  problems: ['too_many_streams'],

  async handle(deps, principal, { query, lastEventId, language, stillAuthorized }) {
    const after = (lastEventId ?? query.after)?.toLowerCase() ?? null;
    // Of version 7, as all of ours are: another kind says nothing about when.
    if (after !== null && !(isUuid(after) && after.charAt(14) === '7'))
      throw invalidRequest([fieldError('header.Last-Event-ID', 'invalid_format', language, 'format.uuid')]);
    const { beginning, events, ended, close } = deps.streams.follow(principal, {
      after,
      event: query.event ?? null,
      allowed: stillAuthorized,
    });
    return { stream: frames(beginning, events), ended, close };
  },
});

/**
 * The first words come when it is decided what is new: whoever sees the stream open misses nothing from then on. They
 * carry an id, so that a client which is cut off before its first event resumes and does not begin anew.
 */
async function* frames(
  beginning: string | null,
  source: AsyncIterable<readonly RecordedEvent[]>,
): AsyncGenerator<string> {
  let first = `retry: 2000\n${beginning === null ? '' : `id: ${beginning}\n`}\n`;
  for await (const events of source) {
    yield first + (events.length === 0 ? ':\n\n' : events.map(frame).join(''));
    first = '';
  }
}

/** JSON holds no line break, so one line of data is enough. */
function frame({ id, body }: RecordedEvent): string {
  return `id: ${id}\nevent: ${(body as { readonly event: string }).event}\ndata: ${JSON.stringify(body)}\n\n`;
}
