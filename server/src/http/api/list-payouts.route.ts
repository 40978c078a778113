import { z } from 'zod';
import { readPayoutPage } from '../../flows/payouts/read-payouts.ts';
import type { Principal } from '../../organizations/organization.ts';
import { PAYOUT_STATUSES } from '../../payouts/payout.states.ts';
import { payoutView } from '../../payouts/payout.view.ts';
import type { ApiDeps } from '../api-deps.ts';
import { receiverKey, text } from '../fields.ts';
import { listFields, listReply, pageResponse } from '../list.ts';
import { merchantOperation, type Reply } from '../operation.ts';
import { PAYOUT_EXAMPLE, payoutListSchema } from './payout.schema.ts';

const { cursor, pageSize, ...span } = listFields('Payouts', 'Created');

/** The query parameters of the list. */
export const payoutPageFields = {
  cursor,
  pageSize,
  status: z.enum(PAYOUT_STATUSES).optional().describe('Only payouts with this status.'),
  rail: z.literal('BRE_B').optional().describe('Only payouts on this rail.'),
  reference: text(1, 255).optional().describe('Only the payout with this reference.'),
  keyString: receiverKey.optional().describe('Only payouts to this key.'),
  ...span,
};

const query = z.strictObject(payoutPageFields);

export function payoutPage(
  deps: ApiDeps,
  principal: Principal,
  { cursor, pageSize, keyString: brebKey, ...others }: z.output<typeof query>,
): Promise<Reply> {
  const filters = { ...others, brebKey };
  return listReply(deps, {
    name: 'payouts',
    organizationId: principal.organization.id,
    filters,
    cursor,
    read: (position) => readPayoutPage(deps, principal, filters, position, pageSize),
    view: payoutView,
  });
}

export const listPayouts = merchantOperation({
  method: 'GET',
  path: '/payouts',
  operationId: 'listPayouts',
  tag: 'Payouts',
  summary: 'List payouts',
  description:
    'Newest first. Follow `nextCursor` to older payouts and `previousCursor` to newer ones, with the same filters; newly created payouts do not shift pages. To filter by `keyString`, prefer `POST /payouts/search`: URLs reach the access logs of proxies.',
  scope: 'payouts:read',
  query,
  responses: pageResponse('payouts', payoutListSchema, PAYOUT_EXAMPLE),
  problems: ['cursor_invalid'],

  handle: (deps, principal, { query: filters }) => payoutPage(deps, principal, filters),
});
