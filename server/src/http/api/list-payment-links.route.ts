import { z } from 'zod';
import { readLinkPage } from '../../flows/payment-links/read-links.ts';
import { LINK_STATUSES } from '../../payment-links/payment-link.states.ts';
import { linkDetailsView } from '../../payment-links/payment-link.view.ts';
import { RAILS } from '../../rails/contract.ts';
import { text } from '../fields.ts';
import { listFields, listReply, pageResponse } from '../list.ts';
import { merchantOperation } from '../operation.ts';
import { LINK_DETAILS_EXAMPLE, linkListSchema } from './payment-link.schema.ts';

const { cursor, pageSize, ...span } = listFields('Links', 'Created');

export const listPaymentLinks = merchantOperation({
  method: 'GET',
  path: '/payment-links',
  operationId: 'listPaymentLinks',
  tag: 'Payment links',
  summary: 'List payment links',
  description:
    'Newest first. Follow `nextCursor` to older links and `previousCursor` to newer ones, with the same filters; newly created links do not shift pages.',
  scope: 'payment_links:read',
  preferredAuth: 'bearer',
  query: z.strictObject({
    cursor,
    pageSize,
    status: z.enum(LINK_STATUSES).optional().describe('Only links with this status.'),
    rail: z.enum(RAILS).optional().describe('Only links restricted to this rail.'),
    reference: text(1, 255).optional().describe('Only the link with this reference.'),
    ...span,
  }),
  responses: pageResponse('payment links', linkListSchema, LINK_DETAILS_EXAMPLE),
  problems: ['cursor_invalid'],

  handle(deps, principal, { query: { cursor, pageSize, ...filters } }) {
    return listReply(deps, {
      name: 'payment-links',
      organizationId: principal.organization.id,
      filters,
      cursor,
      read: (position) => readLinkPage(deps, principal, filters, position, pageSize),
      view: (link) => linkDetailsView(deps, principal, link),
    });
  },
});
