import { z } from 'zod';
import { sendTestEvent } from '../../flows/webhooks/send-test-event.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { endpointPath } from './get-webhook-endpoint.route.ts';

export const testWebhookEndpoint = merchantOperation({
  method: 'POST',
  path: '/webhook-endpoints/{id}/test',
  operationId: 'testWebhookEndpoint',
  tag: 'Webhooks',
  summary: 'Send a test event',
  description:
    'Sends `webhook.test` to this endpoint, signed like every event. Failed deliveries are retried for one hour instead of thirty days. `GET /events/{eventId}` shows the result.',
  scope: 'webhooks:write',
  params: endpointPath,
  responses: {
    202: {
      description: 'The event is queued for delivery.',
      schema: z.strictObject({ eventId: z.uuid() }).meta({ id: 'TestEvent' }),
      example: { eventId: '019b2c5e-a1b2-7c3d-8001-6f7e8d9c0b1b' },
    },
  },
  problems: ['not_found', 'endpoint_disabled', 'outcome_unknown'],

  async handle(deps, principal, { params }) {
    return { status: 202, body: { eventId: await sendTestEvent(deps, principal, parseId(params.id)) } };
  },
});
