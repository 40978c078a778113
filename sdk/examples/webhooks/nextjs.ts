import { type CaudalEvent, webhooks } from '@caudal/sdk';

// In production: a table with the event id as primary key, written in the transaction that applies the event.
const processed = new Set<string>();

async function onEvent(event: CaudalEvent): Promise<void> {
  if (processed.has(event.id)) return;
  console.log(JSON.stringify({ id: event.id, event: event.event }));
  processed.add(event.id);
}

export const POST = webhooks.handler({
  // A function, because `next build` loads this file without the secrets of production.
  secret: () => process.env.CAUDAL_WEBHOOK_SECRET,
  onEvent,
});
