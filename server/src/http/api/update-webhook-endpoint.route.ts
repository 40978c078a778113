import { z } from 'zod';
import { updateEndpoint } from '../../flows/webhooks/manage-endpoints.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { WEBHOOK_URL } from '../url-field.ts';
import { endpointPath } from './get-webhook-endpoint.route.ts';
import {
  description,
  ENDPOINT_EXAMPLE,
  endpointSchema,
  endpointView,
  eventNames,
  staticHeader,
} from './webhook-endpoint.schema.ts';

const body = z
  .strictObject({
    url: z.string().max(2048).optional().describe('URL that receives the events: https, public internet.'),
    events: eventNames.describe('Events to deliver. Null: all events.'),
    description,
    staticHeader,
    status: z
      .enum(['ENABLED', 'DISABLED'])
      .optional()
      .describe(
        'While disabled, events are held. When enabled again, the held events of the last thirty days are delivered.',
      ),
  })
  .meta({ id: 'UpdateWebhookEndpoint' });

export const updateWebhookEndpoint = merchantOperation({
  method: 'PATCH',
  path: '/webhook-endpoints/{id}',
  operationId: 'updateWebhookEndpoint',
  tag: 'Webhooks',
  summary: 'Update a webhook endpoint',
  description: 'Changes only the fields that are sent.',
  scope: 'webhooks:write',
  params: endpointPath,
  body,
  urlFields: { url: WEBHOOK_URL },
  bodyExamples: { enable: { summary: 'Enable again', value: { status: 'ENABLED' } } },
  responses: {
    200: { description: 'The endpoint.', schema: endpointSchema, example: ENDPOINT_EXAMPLE },
  },
  problems: ['not_found', 'outcome_unknown'],

  async handle(deps, principal, { params, body }) {
    const endpoint = await updateEndpoint(deps, principal, parseId(params.id), body);
    return { status: 200, body: endpointView(endpoint) };
  },
});
