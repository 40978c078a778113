import { z } from 'zod';
import { replayEvents as replay } from '../../flows/webhooks/replay-events.ts';
import { fieldIssue } from '../fields.ts';
import { merchantOperation } from '../operation.ts';
import { replayedSchema } from './replay-event.route.ts';

const time = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

const body = z
  .strictObject({
    failedSince: time
      .optional()
      .describe(
        'All events created at or after this time with a failed or failing delivery. Each is delivered only to the endpoints where it failed.',
      ),
    createdFrom: time.optional().describe('All events created at or after this time. Requires `createdTo`.'),
    createdTo: time.optional().describe('All events created before this time. Requires `createdFrom`.'),
    after: z
      .uuid()
      .optional()
      .describe(
        'Continue after this event: `nextAfter` of the previous response. Send the same other fields.',
      ),
  })
  .superRefine(({ failedSince, createdFrom, createdTo }, context) => {
    if (failedSince !== undefined && (createdFrom !== undefined || createdTo !== undefined))
      context.addIssue({ code: 'custom', path: ['failedSince'], ...fieldIssue('one_or_the_other') });
    if (failedSince !== undefined) return;
    if (createdFrom === undefined)
      context.addIssue({ code: 'custom', path: ['createdFrom'], ...fieldIssue('required') });
    if (createdTo === undefined)
      context.addIssue({ code: 'custom', path: ['createdTo'], ...fieldIssue('required') });
  })
  .meta({ id: 'ReplayEvents' });

const replayedManySchema = replayedSchema
  .extend({
    nextAfter: z
      .uuid()
      .nullable()
      .describe('Set if there are more events: repeat the request with this value as `after`.'),
  })
  .meta({ id: 'ReplayedMany' });

export const replayEvents = merchantOperation({
  method: 'POST',
  path: '/events/replay',
  operationId: 'replayEvents',
  tag: 'Events',
  summary: 'Replay events',
  description:
    'Delivers many events again, oldest first. With `failedSince`, it replays events with failed deliveries to the endpoints where they failed. With `createdFrom` and `createdTo`, it replays all events of the range to all enabled endpoints that subscribe to them. A request runs for at most about three seconds; if `nextAfter` is set, repeat the request to continue.',
  scope: 'events:write',
  body,
  bodyExamples: {
    failed: { summary: 'Failed since noon', value: { failedSince: '2026-11-14T12:00:00.000Z' } },
    range: {
      summary: 'One hour',
      value: { createdFrom: '2026-11-14T12:00:00.000Z', createdTo: '2026-11-14T13:00:00.000Z' },
    },
  },
  responses: {
    202: {
      description: 'The deliveries are queued.',
      schema: replayedManySchema,
      example: { events: 42, deliveries: 84, nextAfter: null },
    },
  },
  problems: ['outcome_unknown'],

  async handle(deps, principal, { body: { failedSince, createdFrom, createdTo, after } }) {
    const selection = failedSince
      ? ({ kind: 'failed', from: failedSince } as const)
      : ({ kind: 'range', ...toRange(createdFrom, createdTo) } as const);
    return { status: 202, body: await replay(deps, principal, selection, after?.toLowerCase() ?? null) };
  },
});

function toRange(from: Date | undefined, to: Date | undefined) {
  if (!from || !to) throw new Error('incomplete time range passed the schema');
  return { from, to };
}
