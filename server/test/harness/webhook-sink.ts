import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { eventSchema } from '../../src/http/api/event.schema.ts';
import { until } from './until.ts';

/** A received request, recorded before it is answered. */
export interface SinkRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Byte for byte: the signature covers exactly these bytes. */
  readonly body: Buffer;
  /** The `webhook-id` header. */
  readonly id: string;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}

export type SinkAnswer =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly delayMs?: number;
    }
  /** No answer; the connection stays open. */
  | 'hang'
  /** The connection closes without an answer. */
  | 'close';

type Choose = (request: SinkRequest) => SinkAnswer;

const HOST = '127.0.0.1';

/**
 * A merchant's webhook receiver: real HTTP, a record of all requests, and scripted answers per path. Validates every body
 * against the schemas of the events, so that no test passes on an event that the OpenAPI document does not describe.
 */
export class WebhookSink {
  /** All paths, in order of arrival. */
  readonly requests: SinkRequest[] = [];
  readonly #answers = new Map<string, Choose>();
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #invalid: Error | null = null;
  #port = 0;

  static async start(): Promise<WebhookSink> {
    const sink = new WebhookSink();
    await sink.open();
    return sink;
  }

  url(path: string): string {
    return `http://${HOST}:${this.#port}${path}`;
  }

  /** Answers the next requests to this path in this order; the last answer repeats. */
  answer(path: string, ...answers: readonly [SinkAnswer, ...SinkAnswer[]]): void {
    let next = 0;
    this.answerBy(path, () => answers[Math.min(next++, answers.length - 1)] ?? {});
  }

  answerBy(path: string, choose: Choose): void {
    this.#answers.set(path, choose);
  }

  /** @throws Error for a received body that is not a documented event */
  requestsTo(path: string): SinkRequest[] {
    if (this.#invalid) throw this.#invalid;
    return this.requests.filter((request) => request.path === path);
  }

  /** Distinct event IDs received at a path, sorted. */
  ids(path: string): string[] {
    return [...new Set(this.requestsTo(path).map(({ id }) => id))].sort();
  }

  /** Waits for this many requests at a path. @returns all requests at the path */
  waitForRequests(path: string, count: number, withinMs = PATIENCE_MS): Promise<SinkRequest[]> {
    return until(
      `${path} has received ${count} requests`,
      () => Promise.resolve(this.requestsTo(path).length >= count && this.requestsTo(path)),
      withinMs,
    );
  }

  /** Waits for an event at a path. @returns its latest request */
  waitForEvent(path: string, id: string, withinMs = PATIENCE_MS): Promise<SinkRequest> {
    return until(
      `${path} has received ${id}`,
      () => Promise.resolve(this.requestsTo(path).findLast((request) => request.id === id)),
      withinMs,
    );
  }

  /** Stops listening: new connections are refused and open ones close. Recorded requests remain. */
  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = null;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
    if (this.#invalid) throw this.#invalid;
  }

  /** Listens again on the same port. */
  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url: path = '', headers } = request;
        const received = {
          path,
          headers,
          body: Buffer.concat(chunks),
          id: String(headers['webhook-id']),
          at: performance.now(),
        };
        const answer = this.#answers.get(path)?.(received) ?? {};
        this.requests.push(received);
        this.#invalid ??= eventSchema.safeParse(JSON.parse(received.body.toString())).error ?? null;
        void reply(response, answer);
      });
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, HOST, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }
}

async function reply(response: ServerResponse, answer: SinkAnswer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'close') return void response.destroy();
  if (answer.delayMs !== undefined) await sleep(answer.delayMs);
  response.writeHead(answer.status ?? 200, { 'content-type': 'text/plain', ...answer.headers });
  response.end(answer.body ?? 'ok');
}
