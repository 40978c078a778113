import { type CaudalEvent, webhooks } from '@caudal/sdk';
import Fastify from 'fastify';

// In production: a table with the event id as primary key, written in the transaction that applies the event.
const processed = new Set<string>();

async function onEvent(event: CaudalEvent): Promise<void> {
  if (processed.has(event.id)) return;
  console.log(JSON.stringify({ id: event.id, event: event.event }));
  processed.add(event.id);
}

const receive = webhooks.receiver({ secret: process.env.CAUDAL_WEBHOOK_SECRET, onEvent });

const app = Fastify({ logger: { level: 'error' } });
app.register(async (routes) => {
  // The signature covers the body as it was sent. Routes outside this plugin keep the JSON parser.
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body);
  routes.post<{ Body: Buffer }>('/webhooks', async (request, reply) => {
    const { status, body } = await receive(request.body, request.headers);
    return reply.code(status).send(body);
  });
});
await app.listen({ port: Number(process.env.PORT ?? 3000) });
