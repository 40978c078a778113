import { type CaudalEvent, webhooks } from '@caudal/sdk';
import express from 'express';

// In production: a table with the event id as primary key, written in the transaction that applies the event.
const processed = new Set<string>();

async function onEvent(event: CaudalEvent): Promise<void> {
  if (processed.has(event.id)) return;
  console.log(JSON.stringify({ id: event.id, event: event.event }));
  processed.add(event.id);
}

const receive = webhooks.receiver({ secret: process.env.CAUDAL_WEBHOOK_SECRET, onEvent });

const app = express();
// Before app.use(express.json()): the signature covers the body as it was sent.
app.post('/webhooks', express.raw({ type: () => true }), async (request, response) => {
  const { status, body } = await receive(request.body, request.headers);
  response.status(status).send(body);
});
app.listen(Number(process.env.PORT ?? 3000));
