import { ROTATION_SECONDS, rotateEndpointSecret } from '../../flows/webhooks/manage-endpoints.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { endpointPath } from './get-webhook-endpoint.route.ts';
import {
  ENDPOINT_EXAMPLE,
  endpointView,
  endpointWithSecret,
  SECRET_EXAMPLE,
} from './webhook-endpoint.schema.ts';

export const rotateWebhookSecret = merchantOperation({
  method: 'POST',
  path: '/webhook-endpoints/{id}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  tag: 'Webhooks',
  summary: 'Rotate the secret of a webhook endpoint',
  description: `Creates a new secret. For ${ROTATION_SECONDS / 3600} hours, deliveries are signed with both secrets, so that you can switch without rejecting any.`,
  scope: 'webhooks:write',
  params: endpointPath,
  responses: {
    200: {
      description: 'The endpoint with its new secret. The secret is shown only once.',
      schema: endpointWithSecret,
      example: { ...ENDPOINT_EXAMPLE, secret: SECRET_EXAMPLE },
    },
  },
  problems: ['not_found', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    const { endpoint, secret } = await rotateEndpointSecret(deps, principal, parseId(params.id));
    return { status: 200, body: { ...endpointView(endpoint), secret } };
  },
});
