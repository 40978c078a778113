import { z } from 'zod';
import { readEndpoints } from '../../flows/webhooks/manage-endpoints.ts';
import { merchantOperation } from '../operation.ts';
import { ENDPOINT_EXAMPLE, endpointSchema, endpointView } from './webhook-endpoint.schema.ts';

export const listWebhookEndpoints = merchantOperation({
  method: 'GET',
  path: '/webhook-endpoints',
  operationId: 'listWebhookEndpoints',
  tag: 'Webhooks',
  summary: 'List webhook endpoints',
  description: 'All endpoints, newest first. An organization has at most fifty.',
  scope: 'webhooks:read',
  responses: {
    200: {
      description: 'The endpoints.',
      schema: z.strictObject({ data: z.array(endpointSchema) }).meta({ id: 'WebhookEndpointList' }),
      example: { data: [ENDPOINT_EXAMPLE] },
    },
  },
  problems: [],

  async handle(deps, principal) {
    return { status: 200, body: { data: (await readEndpoints(deps, principal)).map(endpointView) } };
  },
});
