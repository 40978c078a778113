/**
 * Receives Caudal webhooks: verifies each, deduplicates by event id, acknowledges, then processes the event.
 * WEBHOOK_SECRET=whsec_… node receiver.ts
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

interface CaudalEvent {
  readonly id: string;
  readonly event: string;
  readonly resource: string;
  readonly createdAt: string;
  readonly data: {
    readonly id?: string;
    readonly reference?: string;
    readonly status?: string;
    readonly amountInCents?: number;
    readonly confirmedAmountInCents?: number | null;
  };
}

const secret = process.env['WEBHOOK_SECRET'];
if (!secret?.startsWith('whsec_')) {
  console.error(
    'Set WEBHOOK_SECRET to the secret from the response of POST /webhook-endpoints. It starts with whsec_.',
  );
  process.exit(1);
}
const webhook = new Webhook(secret);

// Events are delivered at least once. In production use a table with the event id as its primary key, written in the
// transaction that applies the event: a set in memory is lost at every restart.
const seen = new Set<string>();

const server = createServer((request, response) => void receive(request, response));

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  try {
    // The signature covers the raw bytes: parsing and serializing again would change them.
    const body = await readBody(request);
    const event = webhook.verify(body, request.headers as Record<string, string>) as CaudalEvent;
    const duplicate = seen.has(event.id);
    seen.add(event.id);
    // Any 2xx acknowledges. Respond first and process afterwards: without a response within ten seconds, Caudal retries.
    response.writeHead(204).end();
    console.log(`${duplicate ? 'duplicate' : 'received'} ${describe(event)}`);
    if (event.event === 'payin.confirmed' && !duplicate) deliver(event);
  } catch (error) {
    const forged = error instanceof WebhookVerificationError;
    // Forged requests get 401 without details; our own errors get 500, and Caudal retries.
    response.writeHead(forged ? 401 : 500).end();
    console.error(forged ? `rejected ${error.message}` : error);
  }
}

/** A payin is confirmed with its own amount; only the shop knows whether it equals the amount of the order. */
function deliver({ data: { reference = '', amountInCents, confirmedAmountInCents } }: CaudalEvent): void {
  // In production: the amount of the order with this reference, from your database.
  const orderInCents = amountInCents;
  if (confirmedAmountInCents === orderInCents) console.log(`deliver ${reference}`);
  else console.error(`hold ${reference}: ${confirmedAmountInCents} paid of ${orderInCents}`);
}

function describe({ id, event, data }: CaudalEvent): string {
  return [event, data.reference, data.status, id].filter((part) => part !== undefined).join(' ');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === 'object' && address ? address.port : '?'}`);
});
