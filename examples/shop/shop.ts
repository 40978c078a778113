/**
 * A shop with payment links. CAUDAL_API_KEY=cdl_test_… WEBHOOK_SECRET=whsec_… node shop.ts
 * An order is paid when its event arrives: the return of the payer proves nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Caudal, CaudalError, WebhookVerificationError, webhooks } from '@caudal/sdk';
import { type Order, Orders } from './orders.ts';
import { type Item, itemsPage, orderPage, problemPage } from './pages.ts';

const ITEMS: readonly Item[] = [
  { id: 'coffee', name: 'Café de Nariño, 500 g', pesos: 49_800 },
  { id: 'hat', name: 'Sombrero vueltiao', pesos: 180_000 },
];

const apiKey = process.env['CAUDAL_API_KEY'];
const secret = process.env['WEBHOOK_SECRET'];
if (!apiKey || !secret) {
  console.error('CAUDAL_API_KEY=cdl_test_… WEBHOOK_SECRET=whsec_… node shop.ts (see README.md)');
  process.exit(2);
}
const caudal = new Caudal({ apiKey, baseUrl: process.env['CAUDAL_BASE_URL'] });
const orders = new Orders(process.env['SHOP_FILE'] ?? 'shop.sqlite');

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    // If the outcome of the link creation is unknown, no payer has seen the link: the next attempt creates another.
    console.error(error instanceof CaudalError ? error.message : error);
    send(response, 503, problemPage('No pudimos abrir el pago. Intente de nuevo.'));
  });
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', address());
  const [, first, id, last] = pathname.split('/');
  const route = `${request.method} /${first}${id === undefined ? '' : '/:id'}${last === undefined ? '' : `/${last}`}`;
  if (route === 'GET /') return send(response, 200, itemsPage(ITEMS));
  if (route === 'POST /webhooks') return receive(request, response);
  if (route === 'POST /orders') {
    const itemId = new URLSearchParams(await readBody(request)).get('item');
    const item = ITEMS.find((each) => each.id === itemId);
    if (!item) return send(response, 404, problemPage('No vendemos eso.'));
    return redirectToPayment(response, orders.place(item.name, item.pesos));
  }
  const order = orders.get(id ?? '');
  if (order && route === 'GET /orders/:id') return send(response, 200, orderPage(order));
  if (order && route === 'POST /orders/:id/pay') return redirectToPayment(response, order);
  send(response, 404, problemPage('No encontramos esa página.'));
}

async function redirectToPayment(response: ServerResponse, order: Order): Promise<void> {
  if (order.state === 'paid') return redirect(response, `/orders/${order.id}`);
  // Only one open link per order; otherwise a payer with two tabs could pay twice.
  if (order.state === 'waiting' && order.link !== null) return redirect(response, order.link);
  const link = await caudal.paymentLinks.create({
    amountType: 'FIXED',
    amountInCents: order.pesos * 100,
    reference: orders.nextReference(order.id),
    description: order.item,
    callbackUrl: `${address()}/orders/${order.id}`,
  });
  orders.setLink(order.id, link.paymentLinkUrl);
  redirect(response, link.paymentLinkUrl);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const event = await webhooks.unwrap(await readBody(request), request.headers, secret ?? '');
    if (event.resource === 'paymentlink') {
      const { reference, amount } = event.data;
      const state = event.event === 'paymentlink.completed' ? 'paid' : 'expired';
      // Deliver only when the amount of the order was paid.
      const order = orders.get(reference.split('.')[0] ?? '');
      if (state === 'paid' && order?.pesos !== amount)
        throw new Error(`${reference} was paid with COP ${amount}, which is not the amount of the order`);
      const applied = orders.apply(event.id, reference, state);
      console.log(`${applied ? 'event' : 'duplicate'} ${event.event} ${event.data.reference}`);
    }
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.error(`rejected ${error.reason}`);
    response.writeHead(401).end();
  }
}

function address(): string {
  const at = server.address();
  return `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`;
}

function send(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location }).end();
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => console.log(`shop at ${address()}`));
