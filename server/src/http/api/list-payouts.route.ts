import { z } from 'zod';
import { readPayoutPage } from '../../flows/payouts/read-payouts.ts';
import { PAYOUT_STATUSES } from '../../payouts/payout.states.ts';
import { payoutView } from '../../payouts/payout.view.ts';
import { receiverKey, text } from '../fields.ts';
import { listFields, listReply, pageResponse } from '../list.ts';
import { merchantOperation } from '../operation.ts';
import { PAYOUT_EXAMPLE, payoutListSchema } from './payout.schema.ts';

const { cursor, pageSize, ...span } = listFields('Payouts', 'Created');

const query = z.strictObject({
  cursor,
  pageSize,
  status: z.enum(PAYOUT_STATUSES).optional().describe('Only payouts with this status.'),
  rail: z.literal('BRE_B').optional().describe('Only payouts on this rail.'),
  reference: text(1, 255).optional().describe('Only the payout with this reference.'),
  keyString: receiverKey.optional().describe('Only payouts to this key.'),
  ...span,
});

export const listPayouts = merchantOperation({
  method: 'GET',
  path: '/payouts',
  operationId: 'listPayouts',
  tag: 'Payouts',
  summary: 'List payouts',
  description:
    'Newest first. Follow `nextCursor` to older payouts and `previousCursor` to newer ones, with the same filters; newly created payouts do not shift pages.',
  scope: 'payouts:read',
  query,
  responses: pageResponse('payouts', payoutListSchema, PAYOUT_EXAMPLE),
  problems: ['cursor_invalid'],

  handle(deps, principal, { query: { cursor, pageSize, keyString: brebKey, ...others } }) {
    const filters = { ...others, brebKey };
    return listReply(deps, {
      name: 'payouts',
      organizationId: principal.organization.id,
      filters,
      cursor,
      read: (position) => readPayoutPage(deps, principal, filters, position, pageSize),
      view: payoutView,
    });
  },
});
