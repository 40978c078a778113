import type { z } from 'zod';
import { EVENT_EXAMPLES, EVENT_SCHEMAS } from './api/event.schema.ts';
import { mapEvents } from './api/event-catalogue.ts';
import type { JsonSchema, OperationObject, ParameterObject, ResponseObject } from './docs/openapi-types.ts';

/** Set by `signatureHeaders` in webhooks/signature.ts. */
const SIGNATURE_HEADERS: readonly ParameterObject[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The id of the event, the same in every delivery: use it to detect duplicates.',
    schema: { type: 'string', format: 'uuid' },
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'Time of this attempt in seconds since 1970. Reject deliveries older than five minutes.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1794668767',
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'Standard Webhooks: `v1,` and the base64 of HMAC-SHA-256 over `id.timestamp.body`. During a rotation of the secret, several signatures separated by spaces.',
    schema: { type: 'string' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
];

const RESPONSES: Readonly<Record<string, ResponseObject>> = {
  '2XX': { description: 'Acknowledges the delivery.' },
  410: { description: 'Disables the endpoint; its events are held until you enable it again.' },
  default: {
    description:
      'Any other status, or no response: the delivery is retried for thirty days, a test for one hour. Redirects are not followed.',
  },
};

/** The `webhooks` of the OpenAPI document: one request per event, as it is sent to merchants' servers. */
export function webhookObjects(
  toJsonSchema: (schema: z.ZodType) => JsonSchema,
): Record<string, { readonly post: OperationObject }> {
  return mapEvents((event, { when }) => ({
    post: {
      operationId: operationId(event),
      tags: ['Webhooks'],
      summary: event,
      description: when,
      // The signature authenticates the delivery; no scheme of OpenAPI describes it.
      security: [],
      parameters: SIGNATURE_HEADERS,
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: toJsonSchema(EVENT_SCHEMAS[event]), example: EVENT_EXAMPLES[event] },
        },
      },
      responses: RESPONSES,
    },
  }));
}

/** `receivePaymentlinkCompleted`: generated clients name their types after it. */
function operationId(event: string): string {
  const words = event.split(/[._]/).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `receive${words.join('')}`;
}
