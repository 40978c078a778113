import { z } from 'zod';
import { createEndpoint } from '../../flows/webhooks/manage-endpoints.ts';
import { createdReply, merchantOperation } from '../operation.ts';
import { WEBHOOK_URL } from '../url-field.ts';
import {
  description,
  ENDPOINT_EXAMPLE,
  endpointView,
  endpointWithSecret,
  eventNames,
  SECRET_EXAMPLE,
  staticHeader,
} from './webhook-endpoint.schema.ts';

const body = z
  .strictObject({
    url: z
      .string()
      .max(2048)
      .describe('URL that receives the events: https, public internet.')
      .meta({ format: 'uri', example: ENDPOINT_EXAMPLE.url }),
    events: eventNames.describe('Events to deliver. Null or omitted: all events.'),
    description,
    staticHeader,
  })
  .meta({ id: 'CreateWebhookEndpoint' });

export const createWebhookEndpoint = merchantOperation({
  method: 'POST',
  path: '/webhook-endpoints',
  operationId: 'createWebhookEndpoint',
  tag: 'Webhooks',
  summary: 'Create a webhook endpoint',
  description:
    'New events are delivered to the endpoint, signed according to Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Any 2xx acknowledges a delivery; 410 disables the endpoint; after any other result the delivery is retried for thirty days. `webhook-id` is the id of the event: use it to detect duplicates, because an event may be delivered more than once.',
  scope: 'webhooks:write',
  idempotent: true,
  body,
  urlFields: { url: WEBHOOK_URL },
  bodyExamples: {
    endpoint: {
      summary: 'Two events',
      value: { url: ENDPOINT_EXAMPLE.url, events: ENDPOINT_EXAMPLE.events, description: 'Orders' },
    },
  },
  responses: {
    201: {
      description: 'The endpoint with its secret. The secret is shown only once.',
      schema: endpointWithSecret,
      example: { ...ENDPOINT_EXAMPLE, secret: SECRET_EXAMPLE },
    },
  },
  problems: ['too_many_endpoints', 'idempotency_mismatch', 'outcome_unknown'],

  async handle(deps, principal, { body, idempotency }) {
    const { url, events = null, description = null, staticHeader = null } = body;
    const request = { url, events, description, staticHeader };
    const created = await createEndpoint(deps, principal, request, idempotency);
    return createdReply(created, { ...endpointView(created.endpoint), secret: created.secret });
  },
});
