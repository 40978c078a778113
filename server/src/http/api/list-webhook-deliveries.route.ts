import { z } from 'zod';
import { readDeliveryPage } from '../../flows/webhooks/read-events.ts';
import { listFields, listReply, pageResponse } from '../list.ts';
import { merchantOperation } from '../operation.ts';
import { parseId } from '../path-id.ts';
import { DELIVERY_EXAMPLE, deliveryListSchema, deliveryView } from './event.schema.ts';
import { endpointPath } from './get-webhook-endpoint.route.ts';

const { cursor, pageSize } = listFields('Deliveries', 'Created');

export const listWebhookDeliveries = merchantOperation({
  method: 'GET',
  path: '/webhook-endpoints/{id}/deliveries',
  operationId: 'listWebhookDeliveries',
  tag: 'Webhooks',
  summary: 'List the deliveries of a webhook endpoint',
  description: 'Newest event first, with all attempts.',
  scope: 'webhooks:read',
  params: endpointPath,
  query: z.strictObject({ cursor, pageSize }),
  responses: pageResponse('deliveries', deliveryListSchema, DELIVERY_EXAMPLE),
  problems: ['not_found', 'cursor_invalid'],

  handle(deps, principal, { params, query: { cursor, pageSize } }) {
    const endpointId = parseId(params.id);
    return listReply(deps, {
      name: 'deliveries',
      organizationId: principal.organization.id,
      filters: { endpointId },
      cursor,
      read: (position) => readDeliveryPage(deps, principal, endpointId, position, pageSize),
      view: deliveryView,
    });
  },
});
