import { z } from 'zod';
import { readPayinPage } from '../../flows/payins/read-payins.ts';
import { PAYIN_STATUSES } from '../../payins/payin.states.ts';
import { payinListView } from '../../payins/payin.view.ts';
import { RAILS } from '../../rails/contract.ts';
import { text } from '../fields.ts';
import { listFields, listReply, pageResponse } from '../list.ts';
import { merchantOperation } from '../operation.ts';
import { PAYIN_EXAMPLE, payinListSchema } from './payin.schema.ts';

const { cursor, pageSize, ...span } = listFields('Payins', 'Created');

const query = z.strictObject({
  cursor,
  pageSize,
  status: z.enum(PAYIN_STATUSES).optional().describe('Only payins with this status.'),
  rail: z.enum(RAILS).optional().describe('Only payins on this rail.'),
  reference: text(1, 255).optional().describe('Only the payin with this reference.'),
  paymentLinkId: z.uuid().optional().describe('Only payins of this payment link.'),
  ...span,
});

export const listPayins = merchantOperation({
  method: 'GET',
  path: '/payins',
  operationId: 'listPayins',
  tag: 'Payins',
  summary: 'List payins',
  description:
    'Newest first. Follow `nextCursor` to older payins and `previousCursor` to newer ones, with the same filters; newly created payins do not shift pages. In this list `inlineCustomer` is a string that contains the customer as JSON.',
  scope: 'payins:read',
  query,
  responses: pageResponse('payins', payinListSchema, {
    ...PAYIN_EXAMPLE,
    inlineCustomer: JSON.stringify(PAYIN_EXAMPLE.inlineCustomer),
  }),
  problems: ['cursor_invalid'],

  handle(deps, principal, { query: { cursor, pageSize, ...filters } }) {
    const { organization } = principal;
    return listReply(deps, {
      name: 'payins',
      organizationId: organization.id,
      filters,
      cursor,
      read: (position) => readPayinPage(deps, principal, filters, position, pageSize),
      view: (payin) => payinListView(deps, organization, payin),
    });
  },
});
