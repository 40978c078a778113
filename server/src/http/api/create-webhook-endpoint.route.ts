import { z } from 'zod';
import { createEndpoint } from '../../flows/webhooks/manage-endpoints.ts';
import { serialized, WEBHOOK_ADDRESS } from '../address-field.ts';
import { merchantOperation } from '../operation.ts';
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
      .describe('Where events are sent: https, to a public address.')
      .meta({ format: 'uri', example: ENDPOINT_EXAMPLE.url }),
    events: eventNames.describe('Which events it gets. Null or left out: all.'),
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
    'From now on events are delivered to it, signed as Standard Webhooks says (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Any 2xx acknowledges; 410 disables the endpoint; anything else is tried again for thirty days. `webhook-id` is the event’s id: the same event may come more than once.',
  scope: 'webhooks:write',
  idempotent: true,
  body,
  addresses: { url: WEBHOOK_ADDRESS },
  bodyExamples: {
    endpoint: {
      summary: 'Two events',
      value: { url: ENDPOINT_EXAMPLE.url, events: ENDPOINT_EXAMPLE.events, description: 'Orders' },
    },
  },
  responses: {
    201: {
      description: 'The endpoint with its secret, which is shown only here.',
      schema: endpointWithSecret,
      example: { ...ENDPOINT_EXAMPLE, secret: SECRET_EXAMPLE },
    },
  },
  problems: ['too_many_endpoints', 'idempotency_mismatch', 'outcome_unknown'],

  async handle(deps, principal, { body, idempotencyKey, rawBody }) {
    const { endpoint, secret, replayed } = await createEndpoint(
      deps,
      principal,
      {
        url: serialized(WEBHOOK_ADDRESS, deps, body.url),
        events: body.events ?? null,
        description: body.description ?? null,
        staticHeader: body.staticHeader ?? null,
      },
      idempotencyKey === null ? null : { key: idempotencyKey, body: rawBody },
    );
    return {
      status: 201,
      body: { ...endpointView(endpoint), secret },
      ...(replayed ? { headers: { 'idempotent-replayed': 'true' } } : {}),
    };
  },
});
