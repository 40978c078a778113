import { closeLink } from '../../flows/payment-links/close-link.ts';
import { wholeLinkView } from '../../payment-links/payment-link.view.ts';
import { merchantOperation } from '../operation.ts';
import { idIn } from '../path-id.ts';
import { linkPath } from './get-payment-link.route.ts';
import { WHOLE_LINK_EXAMPLE, wholeLinkSchema } from './payment-link.schema.ts';

export const expirePaymentLink = merchantOperation({
  method: 'POST',
  path: '/payment-links/{paymentLinkId}/expire',
  operationId: 'expirePaymentLink',
  tag: 'Payment links',
  summary: 'Close a payment link',
  description:
    'Before its time: no new attempt is begun. A payment that is under way is awaited, so that none is lost; then the link is `EXPIRED`, usually within a second, and `paymentlink.expired` tells of it. Paid already: 409 `payment_link_completed`. Repeating the call is safe.',
  scope: 'payment_links:write',
  shows: 'bearer',
  params: linkPath,
  responses: {
    200: {
      description: 'The payment link, shut; `EXPIRED` now or soon.',
      schema: wholeLinkSchema,
      example: WHOLE_LINK_EXAMPLE,
    },
  },
  problems: ['not_found', 'payment_link_completed', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    const link = await closeLink(deps, principal, idIn(params.paymentLinkId));
    return { status: 200, body: wholeLinkView(deps, principal.organization.number, link) };
  },
});
