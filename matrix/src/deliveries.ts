import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Caudal } from '../../sdk/src/index.ts';

interface Delivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const WITHIN_MS = 60_000;

/**
 * A webhook endpoint of the organization. A consumer reads the delivery of its payin with GET /PAYIN_ID, as it was sent,
 * and verifies it with the SDK in its own runtime.
 */
export class Deliveries {
  readonly #server: Server;
  readonly #received = new Map<string, Delivery>();
  readonly #waiting = new Map<string, (delivery: Delivery) => void>();
  #secret = '';

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
        (error: unknown) => response.writeHead(504).end(String(error)),
      );
    });
  }

  static async start(baseUrl: string, apiKey: string): Promise<Deliveries> {
    const deliveries = new Deliveries();
    await new Promise<void>((resolve) => deliveries.#server.listen(0, '127.0.0.1', resolve));
    const { secret } = await new Caudal({ apiKey, baseUrl }).webhookEndpoints.create({
      url: `${deliveries.url}/`,
    });
    deliveries.#secret = secret;
    return deliveries;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage): Promise<string> {
    if (request.method === 'POST') {
      this.#receive({ body: await text(request), headers: request.headers as Record<string, string> });
      return '{}';
    }
    const delivery = await this.#find((request.url ?? '').slice(1));
    return JSON.stringify({ ...delivery, secret: this.#secret });
  }

  #receive(delivery: Delivery): void {
    const { data } = JSON.parse(delivery.body) as { readonly data: { readonly id?: string } };
    const id = data.id ?? '';
    this.#received.set(id, delivery);
    this.#waiting.get(id)?.(delivery);
  }

  #find(payinId: string): Promise<Delivery> {
    const received = this.#received.get(payinId);
    if (received) return Promise.resolve(received);
    return new Promise((resolve, reject) => {
      this.#waiting.set(payinId, resolve);
      setTimeout(() => reject(new Error(`no webhook for ${payinId}`)), WITHIN_MS).unref();
    });
  }
}
