import { z } from 'zod';
import { updateEndpoint } from '../../flows/webhooks/manage-endpoints.ts';
import { serialized, WEBHOOK_ADDRESS } from '../address-field.ts';
import { merchantOperation } from '../operation.ts';
import { idIn } from '../path-id.ts';
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
    url: z.string().max(2048).optional().describe('Where events are sent: https, to a public address.'),
    events: eventNames.describe('Which events it gets. Null: all.'),
    description,
    staticHeader,
    status: z
      .enum(['ENABLED', 'DISABLED'])
      .optional()
      .describe('Disabled, its events are held; enabled again, those of the last thirty days are delivered.'),
  })
  .meta({ id: 'UpdateWebhookEndpoint' });

export const updateWebhookEndpoint = merchantOperation({
  method: 'PATCH',
  path: '/webhook-endpoints/{id}',
  operationId: 'updateWebhookEndpoint',
  tag: 'Webhooks',
  summary: 'Change a webhook endpoint',
  description: 'Only what is sent is changed.',
  scope: 'webhooks:write',
  params: endpointPath,
  body,
  addresses: { url: WEBHOOK_ADDRESS },
  bodyExamples: { enable: { summary: 'Enable it again', value: { status: 'ENABLED' } } },
  responses: {
    200: { description: 'The endpoint.', schema: endpointSchema, example: ENDPOINT_EXAMPLE },
  },
  problems: ['not_found', 'outcome_unknown'],

  async handle(deps, principal, { params, body: { url, ...rest } }) {
    const update = { ...rest, ...(url === undefined ? {} : { url: serialized(WEBHOOK_ADDRESS, deps, url) }) };
    const endpoint = await updateEndpoint(deps, principal, idIn(params.id), update);
    return { status: 200, body: endpointView(endpoint) };
  },
});
