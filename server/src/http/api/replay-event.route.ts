import { z } from 'zod';
import { replayOne } from '../../flows/webhooks/replay-events.ts';
import { merchantOperation } from '../operation.ts';
import { idIn } from '../path-id.ts';
import { eventPath } from './get-event.route.ts';

export const replayedSchema = z
  .strictObject({
    events: z.int().describe('Events that are delivered again.'),
    deliveries: z.int().describe('Deliveries: an event goes to every enabled endpoint that wants it.'),
  })
  .meta({ id: 'Replayed' });

export const replayEvent = merchantOperation({
  method: 'POST',
  path: '/events/{id}/replay',
  operationId: 'replayEvent',
  tag: 'Events',
  summary: 'Replay an event',
  description:
    'Delivers it again, under the same id and with the same body, to all enabled endpoints that want it, also those that were created later.',
  scope: 'events:write',
  params: eventPath,
  responses: {
    202: {
      description: 'It is on its way.',
      schema: replayedSchema,
      example: { events: 1, deliveries: 1 },
    },
  },
  problems: ['not_found', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    const { events, deliveries } = await replayOne(deps, principal, idIn(params.id));
    return { status: 202, body: { events, deliveries } };
  },
});
