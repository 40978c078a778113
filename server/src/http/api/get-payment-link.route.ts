import { z } from 'zod';
import { readLink } from '../../flows/payment-links/read-links.ts';
import { linkDetailsView } from '../../payment-links/payment-link.view.ts';
import { merchantOperation } from '../operation.ts';
import { idParameter, parseId } from '../path-id.ts';
import { LINK_DETAILS_EXAMPLE, LINK_EXAMPLE, linkDetailsSchema } from './payment-link.schema.ts';

export const linkPath = z.strictObject({
  paymentLinkId: idParameter('Identifier of the payment link.', LINK_EXAMPLE.paymentLinkId),
});

export const getPaymentLink = merchantOperation({
  method: 'GET',
  path: '/payment-links/{paymentLinkId}',
  operationId: 'getPaymentLink',
  tag: 'Payment links',
  summary: 'Get a payment link',
  description:
    'The current state of the link. Prefer events over polling. To list its payment attempts, use `GET /payins?paymentLinkId=…`.',
  scope: 'payment_links:read',
  preferredAuth: 'bearer',
  params: linkPath,
  responses: {
    200: { description: 'The payment link.', schema: linkDetailsSchema, example: LINK_DETAILS_EXAMPLE },
  },
  problems: ['not_found'],

  async handle(deps, principal, { params }) {
    const link = await readLink(deps, principal, parseId(params.paymentLinkId));
    return { status: 200, body: linkDetailsView(deps, principal, link) };
  },
});
