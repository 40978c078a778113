import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './until.ts';

/** A request as it came, kept before it is answered. */
export interface SinkRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Byte for byte: a signature is over these and nothing else. */
  readonly body: Buffer;
  /** `webhook-id`. */
  readonly id: string;
  /** Milliseconds of this machine's monotonic clock. */
  readonly at: number;
}

export type SinkAnswer =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly delayMs?: number;
    }
  /** No answer, and the connection stays open. */
  | 'hang'
  /** The connection ends without an answer. */
  | 'close';

type Choose = (request: SinkRequest) => SinkAnswer;

const HOST = '127.0.0.1';

/** A merchant's receiver of webhooks: real HTTP, a journal of all that came, and answers as the test says for each path. */
export class WebhookSink {
  /** In the order of arrival, over all paths. */
  readonly requests: SinkRequest[] = [];
  readonly #answers = new Map<string, Choose>();
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  static async start(): Promise<WebhookSink> {
    const sink = new WebhookSink();
    await sink.open();
    return sink;
  }

  url(path: string): string {
    return `http://${HOST}:${this.#port}${path}`;
  }

  /** From now on: the first of these to the next request at this path, then the second, the last to all that follow. */
  answer(path: string, ...answers: readonly [SinkAnswer, ...SinkAnswer[]]): void {
    let next = 0;
    this.answerBy(path, () => answers[Math.min(next++, answers.length - 1)] ?? {});
  }

  answerBy(path: string, choose: Choose): void {
    this.#answers.set(path, choose);
  }

  at(path: string): SinkRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** Ids of the events that came to a path, each once, in their own order. */
  ids(path: string): string[] {
    return [...new Set(this.at(path).map(({ id }) => id))].sort();
  }

  /** Until so many have come to a path. @returns all that came there */
  receives(path: string, count: number, withinMs = 10_000): Promise<SinkRequest[]> {
    return until(
      `${path} has got ${count}`,
      () => Promise.resolve(this.at(path).length >= count && this.at(path)),
      withinMs,
    );
  }

  /** Until an event has come to a path. @returns the last of its arrivals */
  receivesEvent(path: string, id: string, withinMs = 10_000): Promise<SinkRequest> {
    return until(
      `${path} has got ${id}`,
      () => Promise.resolve(this.at(path).findLast((request) => request.id === id)),
      withinMs,
    );
  }

  /** Nobody listens any more: connections are refused, and those that are open end. The journal stays. */
  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = null;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  /** At the port it had. */
  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url: path = '', headers } = request;
        const taken = {
          path,
          headers,
          body: Buffer.concat(chunks),
          id: String(headers['webhook-id']),
          at: performance.now(),
        };
        const answer = this.#answers.get(path)?.(taken) ?? {};
        this.requests.push(taken);
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
