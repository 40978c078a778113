import { z } from 'zod';
import { pageResponse, pageSizeInBody } from '../list.ts';
import { merchantOperation } from '../operation.ts';
import { payoutPage, payoutPageFields } from './list-payouts.route.ts';
import { PAYOUT_EXAMPLE, payoutListSchema } from './payout.schema.ts';

const body = z
  .strictObject({ ...payoutPageFields, pageSize: pageSizeInBody('Payouts') })
  .meta({ id: 'SearchPayouts' });

export const searchPayouts = merchantOperation({
  method: 'POST',
  path: '/payouts/search',
  operationId: 'searchPayouts',
  tag: 'Payouts',
  summary: 'Search payouts',
  description:
    'The list of payouts with its filters in the body, where a phone or document number in `keyString` does not reach the access logs of proxies. It changes nothing and counts as a read. To get another page, repeat the request with its `cursor`.',
  scope: 'payouts:read',
  readOnly: true,
  body,
  bodyExamples: {
    receiver: { summary: 'Payouts to one key', value: { keyString: '3001234567' } },
  },
  responses: pageResponse('payouts', payoutListSchema, PAYOUT_EXAMPLE),
  problems: ['cursor_invalid'],

  handle: (deps, principal, { body: filters }) => payoutPage(deps, principal, filters),
});
