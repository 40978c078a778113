import { cancelPayout as cancel } from '../../flows/payouts/cancel-payout.ts';
import { payoutView } from '../../payouts/payout.view.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { payoutPath } from './get-payout.route.ts';
import { PAYOUT_EXAMPLE, payoutSchema } from './payout.schema.ts';

export const cancelPayout = merchantOperation({
  method: 'POST',
  path: '/payouts/{id}/cancel',
  operationId: 'cancelPayout',
  tag: 'Payouts',
  summary: 'Cancel a payout',
  description:
    'Cancels a payout whose order the rail certainly does not have. Its amount is available again immediately, and `payout.canceled` is emitted. If the rail may have the order, the response is 409 `payout_already_sent`, and its final event reports the outcome. Retrying is safe.',
  scope: 'payouts:write',
  params: payoutPath,
  responses: {
    200: {
      description: 'The canceled payout.',
      schema: payoutSchema,
      example: {
        ...PAYOUT_EXAMPLE,
        status: 'CANCELED',
        updatedAt: '2026-11-14T15:04:06.120Z',
        resultAt: '2026-11-14T15:04:06.120Z',
      },
    },
  },
  problems: ['not_found', 'payout_already_sent', 'payout_ended', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    return { status: 200, body: payoutView(await cancel(deps, principal, parseId(params.id))) };
  },
});
