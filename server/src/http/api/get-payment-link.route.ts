import { z } from 'zod';
import { readLink } from '../../flows/payment-links/read-links.ts';
import { wholeLinkView } from '../../payment-links/payment-link.view.ts';
import { merchantOperation } from '../operation.ts';
import { idIn } from '../path-id.ts';
import { LINK_EXAMPLE, WHOLE_LINK_EXAMPLE, wholeLinkSchema } from './payment-link.schema.ts';

export const linkPath = z.strictObject({
  paymentLinkId: z
    .string()
    .describe('Identifier of the payment link.')
    .meta({ format: 'uuid', example: LINK_EXAMPLE.paymentLinkId }),
});

export const getPaymentLink = merchantOperation({
  method: 'GET',
  path: '/payment-links/{paymentLinkId}',
  operationId: 'getPaymentLink',
  tag: 'Payment links',
  summary: 'Get a payment link',
  description:
    'The link as it is now. Prefer events over polling. Its attempts: `GET /payins?paymentLinkId=…`.',
  scope: 'payment_links:read',
  shows: 'bearer',
  params: linkPath,
  responses: {
    200: { description: 'The payment link.', schema: wholeLinkSchema, example: WHOLE_LINK_EXAMPLE },
  },
  problems: ['not_found'],

  async handle(deps, principal, { params }) {
    const link = await readLink(deps, principal, idIn(params.paymentLinkId));
    return { status: 200, body: wholeLinkView(deps, principal.organization.number, link) };
  },
});
