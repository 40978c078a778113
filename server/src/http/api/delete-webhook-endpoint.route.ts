import { z } from 'zod';
import { removeEndpoint } from '../../flows/webhooks/manage-endpoints.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { endpointPath } from './get-webhook-endpoint.route.ts';
import { ENDPOINT_EXAMPLE } from './webhook-endpoint.schema.ts';

export const deleteWebhookEndpoint = merchantOperation({
  method: 'DELETE',
  path: '/webhook-endpoints/{id}',
  operationId: 'deleteWebhookEndpoint',
  tag: 'Webhooks',
  summary: 'Delete a webhook endpoint',
  description:
    'Stops all deliveries to the endpoint. Deliveries in progress may still arrive for up to ten seconds.',
  scope: 'webhooks:write',
  params: endpointPath,
  responses: {
    200: {
      description: 'The endpoint is deleted.',
      schema: z
        .strictObject({ id: z.uuid(), deleted: z.literal(true) })
        .meta({ id: 'DeletedWebhookEndpoint' }),
      example: { id: ENDPOINT_EXAMPLE.id, deleted: true },
    },
  },
  problems: ['not_found', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    const id = parseId(params.id);
    await removeEndpoint(deps, principal, id);
    return { status: 200, body: { id, deleted: true } };
  },
});
