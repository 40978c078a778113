import { z } from 'zod';
import { readEvent } from '../../flows/webhooks/read-events.ts';
import { merchantOperation } from '../operation.ts';
import { idParameter, parseId } from '../path-id.ts';
import { DELIVERY_EXAMPLE, deliveryView, EVENT_EXAMPLE, eventWithDeliveries } from './event.schema.ts';
import { ENDPOINT_EXAMPLE } from './webhook-endpoint.schema.ts';

export const eventPath = z.strictObject({
  id: idParameter('Identifier of the event.', EVENT_EXAMPLE.id),
});

export const getEvent = merchantOperation({
  method: 'GET',
  path: '/events/{id}',
  operationId: 'getEvent',
  tag: 'Events',
  summary: 'Get an event',
  description: 'The event and its deliveries with all attempts.',
  scope: 'events:read',
  params: eventPath,
  responses: {
    200: {
      description: 'The event.',
      schema: eventWithDeliveries,
      example: {
        ...EVENT_EXAMPLE,
        deliveries: [{ ...DELIVERY_EXAMPLE, webhookEndpointId: ENDPOINT_EXAMPLE.id }],
      },
    },
  },
  problems: ['not_found'],

  async handle(deps, principal, { params }) {
    const { event, deliveries } = await readEvent(deps, principal, parseId(params.id));
    const views = deliveries.map((each) => ({ ...deliveryView(each), webhookEndpointId: each.endpointId }));
    return { status: 200, body: { ...event.body, deliveries: views } };
  },
});
