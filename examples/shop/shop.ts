/**
 * A shop that is paid by payment links. CAUDAL_API_KEY=cdl_test_… WEBHOOK_SECRET=whsec_… node shop.ts
 * An order is paid when its event says so: that the payer came back proves nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Caudal, CaudalError, WebhookVerificationError, webhooks } from '@caudal/sdk';
import { type Order, Orders } from './orders.ts';
import { type Item, orderPage, problemPage, shelf } from './pages.ts';

const ITEMS: readonly Item[] = [
  { id: 'coffee', name: 'Café de Nariño, 500 g', pesos: 49_800 },
  { id: 'hat', name: 'Sombrero vueltiao', pesos: 180_000 },
];

const apiKey = process.env['CAUDAL_API_KEY'];
const secret = process.env['WEBHOOK_SECRET'];
if (!apiKey || !secret) {
  console.error('CAUDAL_API_KEY=cdl_test_… WEBHOOK_SECRET=whsec_… node shop.ts (README.md says where from)');
  process.exit(2);
}
const caudal = new Caudal({ apiKey, baseUrl: process.env['CAUDAL_BASE_URL'] });
const orders = new Orders(process.env['SHOP_FILE'] ?? 'shop.sqlite');

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    // A link that may or may not have been created was shown to nobody: the next try makes another.
    console.error(error instanceof CaudalError ? error.message : error);
    send(response, 503, problemPage('No pudimos abrir el pago. Intente de nuevo.'));
  });
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', address());
  const [, first, id, last] = pathname.split('/');
  const route = `${request.method} /${first}${id === undefined ? '' : '/:id'}${last === undefined ? '' : `/${last}`}`;
  if (route === 'GET /') return send(response, 200, shelf(ITEMS));
  if (route === 'POST /webhooks') return receive(request, response);
  if (route === 'POST /orders') {
    const chosen = new URLSearchParams(await bodyOf(request)).get('item');
    const item = ITEMS.find((each) => each.id === chosen);
    if (!item) return send(response, 404, problemPage('No vendemos eso.'));
    return goToPay(response, orders.place(item.name, item.pesos));
  }
  const order = orders.get(id ?? '');
  if (order && route === 'GET /orders/:id') return send(response, 200, orderPage(order));
  if (order && route === 'POST /orders/:id/pay') return goToPay(response, order);
  send(response, 404, problemPage('No encontramos esa página.'));
}

async function goToPay(response: ServerResponse, order: Order): Promise<void> {
  if (order.state === 'paid') return redirect(response, `/orders/${order.id}`);
  // One open link per order, or a payer with two tabs pays twice.
  if (order.state === 'waiting' && order.link !== null) return redirect(response, order.link);
  const link = await caudal.paymentLinks.create({
    amountType: 'FIXED',
    amountInCents: order.pesos * 100,
    reference: orders.nextReference(order.id),
    description: order.item,
    callbackUrl: `${address()}/orders/${order.id}`,
  });
  orders.waitsAt(order.id, link.paymentLinkUrl);
  redirect(response, link.paymentLinkUrl);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const event = await webhooks.unwrap(await bodyOf(request), request.headers, secret ?? '');
    if (event.resource === 'paymentlink') {
      const { reference, amount } = event.data;
      const state = event.event === 'paymentlink.completed' ? 'paid' : 'expired';
      // Deliver only for the amount of the order, whatever caused the difference.
      const order = orders.get(reference.split('.')[0] ?? '');
      if (state === 'paid' && order?.pesos !== amount)
        throw new Error(`${reference} was paid with COP ${amount}, which is not the amount of the order`);
      const news = orders.apply(event.id, reference, state);
      console.log(`${news ? 'event' : 'again'} ${event.event} ${event.data.reference}`);
    }
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.error(`refused ${error.reason}`);
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

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => console.log(`shop at ${address()}`));
