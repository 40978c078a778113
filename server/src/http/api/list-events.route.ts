import { z } from 'zod';
import { LISTED_EVENT_NAMES } from '../../events/event.ts';
import { readEventPage } from '../../flows/webhooks/read-events.ts';
import { listFields, listReply, pageResponse } from '../list.ts';
import { merchantOperation } from '../operation.ts';
import { EVENT_EXAMPLE, eventListSchema } from './event.schema.ts';

const { cursor, pageSize, ...span } = listFields('Events', 'Created');

export const listEvents = merchantOperation({
  method: 'GET',
  path: '/events',
  operationId: 'listEvents',
  tag: 'Events',
  summary: 'List events',
  description: 'Newest first, each with the same body as its deliveries.',
  scope: 'events:read',
  query: z.strictObject({
    cursor,
    pageSize,
    event: z.enum(LISTED_EVENT_NAMES).optional().describe('Only events with this name.'),
    resourceId: z.uuid().optional().describe('Only events of this payin, payout or payment link.'),
    ...span,
  }),
  responses: pageResponse('events', eventListSchema, EVENT_EXAMPLE),
  problems: ['cursor_invalid'],

  handle(deps, principal, { query: { cursor, pageSize, ...filters } }) {
    return listReply(deps, {
      name: 'events',
      organizationId: principal.organization.id,
      filters,
      cursor,
      read: (position) => readEventPage(deps, principal, filters, position, pageSize),
      view: ({ body }) => body,
    });
  },
});
