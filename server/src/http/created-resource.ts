import type { FastifyRequest } from 'fastify';
import type { Operation, Reply, StreamReply } from './operation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Ids of what the request created, for its log line: they connect a payment with the request that began it. */
    created: CreatedIds | null;
  }
}

interface CreatedIds {
  readonly payinId?: string;
  readonly payoutId?: string;
  readonly paymentLinkId?: string;
  readonly webhookEndpointId?: string;
}

/** The log field of each creation, and the field of its response that has the id. */
const FIELDS: Readonly<Record<string, readonly [keyof CreatedIds, string]>> = {
  '/payins': ['payinId', 'id'],
  '/payouts': ['payoutId', 'id'],
  '/payment-links': ['paymentLinkId', 'paymentLinkId'],
  '/webhook-endpoints': ['webhookEndpointId', 'id'],
};

/** Notes the id in a response to a creation, also a replayed one. */
export function noteCreated(request: FastifyRequest, { path }: Operation, reply: Reply | StreamReply): void {
  const fields = FIELDS[path];
  if (fields === undefined || 'stream' in reply || reply.status !== 201) return;
  const [field, source] = fields;
  const id = (reply.body as Readonly<Record<string, unknown>>)[source];
  if (typeof id === 'string') request.created = { [field]: id };
}
