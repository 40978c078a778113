import { z } from 'zod';
import { readEndpoint } from '../../flows/webhooks/manage-endpoints.ts';
import { merchantOperation } from '../operation.ts';
import { idParameter, parseId } from '../path-id.ts';
import { ENDPOINT_EXAMPLE, endpointSchema, endpointView } from './webhook-endpoint.schema.ts';

export const endpointPath = z.strictObject({
  id: idParameter('Identifier of the endpoint.', ENDPOINT_EXAMPLE.id),
});

export const getWebhookEndpoint = merchantOperation({
  method: 'GET',
  path: '/webhook-endpoints/{id}',
  operationId: 'getWebhookEndpoint',
  tag: 'Webhooks',
  summary: 'Get a webhook endpoint',
  description: 'The current state of the endpoint. The secret is not included; rotate it if you lost it.',
  scope: 'webhooks:read',
  params: endpointPath,
  responses: {
    200: { description: 'The endpoint.', schema: endpointSchema, example: ENDPOINT_EXAMPLE },
  },
  problems: ['not_found'],

  async handle(deps, principal, { params }) {
    return { status: 200, body: endpointView(await readEndpoint(deps, principal, parseId(params.id))) };
  },
});
