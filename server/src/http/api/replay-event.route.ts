import { z } from 'zod';
import { replayEvent as replay } from '../../flows/webhooks/replay-events.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { eventPath } from './get-event.route.ts';

export const replayedSchema = z
  .strictObject({
    events: z.int().describe('Number of events delivered again.'),
    deliveries: z
      .int()
      .describe('Number of deliveries: an event goes to every enabled endpoint that subscribes to it.'),
  })
  .meta({ id: 'Replayed' });

export const replayEvent = merchantOperation({
  method: 'POST',
  path: '/events/{id}/replay',
  operationId: 'replayEvent',
  tag: 'Events',
  summary: 'Replay an event',
  description:
    'Delivers the event again, with the same id and body, to all enabled endpoints that subscribe to it, including endpoints created after the event.',
  scope: 'events:write',
  params: eventPath,
  responses: {
    202: {
      description: 'The deliveries are queued.',
      schema: replayedSchema,
      example: { events: 1, deliveries: 1 },
    },
  },
  problems: ['not_found', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    const { events, deliveries } = await replay(deps, principal, parseId(params.id));
    return { status: 202, body: { events, deliveries } };
  },
});
