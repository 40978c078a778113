import { z } from 'zod';
import { replayMany } from '../../flows/webhooks/replay-events.ts';
import { fieldIssue } from '../fields.ts';
import { merchantOperation } from '../operation.ts';
import { replayedSchema } from './replay-event.route.ts';

const moment = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

const body = z
  .strictObject({
    failedSince: moment
      .optional()
      .describe(
        'All events created at or after this moment of which a delivery has failed or is failing, each to the endpoints at which it did.',
      ),
    createdFrom: moment.optional().describe('With `createdTo`: all events created at or after this moment …'),
    createdTo: moment.optional().describe('… and before this one.'),
    after: z
      .uuid()
      .optional()
      .describe('Goes on after this event: `nextAfter` of the answer before, with the same other fields.'),
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
      .describe('Set when there are more: repeat the request with this as `after`.'),
  })
  .meta({ id: 'ReplayedMany' });

export const replayEvents = merchantOperation({
  method: 'POST',
  path: '/events/replay',
  operationId: 'replayEvents',
  tag: 'Events',
  summary: 'Replay events',
  description:
    'Delivers many events again, oldest first: those that failed, of events created since a moment, to the endpoints at which they failed; or all of a span of time, to all enabled endpoints that want them. A request goes on for three seconds: `nextAfter` says from where to go on.',
  scope: 'events:write',
  body,
  bodyExamples: {
    failed: { summary: 'What failed since noon', value: { failedSince: '2026-11-14T12:00:00.000Z' } },
    range: {
      summary: 'All of an hour',
      value: { createdFrom: '2026-11-14T12:00:00.000Z', createdTo: '2026-11-14T13:00:00.000Z' },
    },
  },
  responses: {
    202: {
      description: 'They are on their way.',
      schema: replayedManySchema,
      example: { events: 42, deliveries: 84, nextAfter: null },
    },
  },
  problems: ['outcome_unknown'],

  async handle(deps, principal, { body: { failedSince, createdFrom, createdTo, after } }) {
    const wanted = failedSince
      ? ({ kind: 'failed', from: failedSince } as const)
      : ({ kind: 'range', ...span(createdFrom, createdTo) } as const);
    return { status: 202, body: await replayMany(deps, principal, wanted, after?.toLowerCase() ?? null) };
  },
});

function span(from: Date | undefined, to: Date | undefined) {
  if (!from || !to) throw new Error('the schema lets no half span through');
  return { from, to };
}
