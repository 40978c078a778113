import { closeLink } from '../../flows/payment-links/close-link.ts';
import { linkDetailsView } from '../../payment-links/payment-link.view.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { linkPath } from './get-payment-link.route.ts';
import { LINK_DETAILS_EXAMPLE, linkDetailsSchema } from './payment-link.schema.ts';

export const expirePaymentLink = merchantOperation({
  method: 'POST',
  path: '/payment-links/{paymentLinkId}/expire',
  operationId: 'expirePaymentLink',
  tag: 'Payment links',
  summary: 'Close a payment link',
  description:
    'Closes a link before it expires: no new payment attempt can start. If an attempt is in progress, the link waits for its outcome so that no payment is lost. Then the link becomes `EXPIRED`, usually within a second, and `paymentlink.expired` is emitted. If the link is already paid, the response is 409 `payment_link_completed`. Retrying is safe.',
  scope: 'payment_links:write',
  preferredAuth: 'bearer',
  params: linkPath,
  responses: {
    200: {
      description: 'The closed payment link; `EXPIRED` immediately or soon after.',
      schema: linkDetailsSchema,
      example: LINK_DETAILS_EXAMPLE,
    },
  },
  problems: ['not_found', 'payment_link_completed', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    const link = await closeLink(deps, principal, parseId(params.paymentLinkId));
    return { status: 200, body: linkDetailsView(deps, principal, link) };
  },
});
