/**
 * Receives Caudal's webhooks: verifies each, drops repeats, acknowledges, then does its work.
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
    'Set WEBHOOK_SECRET to the secret that POST /webhook-endpoints answered: it begins with whsec_.',
  );
  process.exit(1);
}
const webhook = new Webhook(secret);

// Deliveries come at least once. In a shop this is a table with the id as its key, written in the same transaction as
// what the event changes: a set in memory forgets at every restart.
const seen = new Set<string>();

const server = createServer((request, response) => void receive(request, response));

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  try {
    // The signature is over the bytes as they came: parsing and printing again would change them.
    const body = await readBody(request);
    const event = webhook.verify(body, request.headers as Record<string, string>) as CaudalEvent;
    const repeated = seen.has(event.id);
    seen.add(event.id);
    // Any 2xx acknowledges. Answer first and work afterwards: after ten seconds it is sent again.
    response.writeHead(204).end();
    console.log(`${repeated ? 'again   ' : 'received'} ${describe(event)}`);
    if (event.event === 'payin.confirmed' && !repeated) deliver(event);
  } catch (error) {
    const forged = error instanceof WebhookVerificationError;
    // What is not ours is refused without a reason; what we could not do is a 500, and comes again.
    response.writeHead(forged ? 401 : 500).end();
    console.error(forged ? `refused  ${error.message}` : error);
  }
}

/** A payin is confirmed by its own amount; whether that is the amount of the order only the shop knows. */
function deliver({ data: { reference = '', amountInCents, confirmedAmountInCents } }: CaudalEvent): void {
  // In a shop: the amount of the order with this reference, from its own database.
  const orderInCents = amountInCents;
  if (confirmedAmountInCents === orderInCents) console.log(`deliver  ${reference}`);
  else console.error(`hold     ${reference}: ${confirmedAmountInCents} paid of ${orderInCents}`);
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
