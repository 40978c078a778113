import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Backend {
  readonly url: string;
  readonly opsUrl: string;
}

/**
 * Longer than a client keeps an idle connection. The headers of the backend about its own connection are not forwarded: a
 * client that believed them would reuse connections while this server closes them, and get no response.
 */
const IDLE_MS = 120_000;

/**
 * A typical load balancer: polls /readyz of each backend at an interval and forwards each request once,
 * round-robin, to the backends whose last answer was 200. It never retries.
 */
export class PollingProxy {
  readonly #server: Server;
  readonly #everyMs: number;
  readonly #ready = new Map<Backend, boolean>();
  readonly #ending = new AbortController();
  #next = 0;
  #longestMs = 0;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
    this.#server = createServer((incoming, outgoing) => {
      const ready = [...this.#ready].flatMap(([backend, isReady]) => (isReady ? [backend] : []));
      const backend = ready[this.#next++ % Math.max(1, ready.length)];
      if (!backend) return badGateway(outgoing, 'no_backend_ready');
      const { method = 'GET', headers, url = '/' } = incoming;
      const startedAt = performance.now();
      const forwarded = request(new URL(url, backend.url), { method, headers, agent: false }, (answer) => {
        this.#longestMs = Math.max(this.#longestMs, performance.now() - startedAt);
        const { connection: _connection, 'keep-alive': _keepAlive, ...forwardedHeaders } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, forwardedHeaders);
        answer.pipe(outgoing);
      });
      forwarded.on('error', (error: NodeJS.ErrnoException) =>
        badGateway(outgoing, error.code ?? error.message),
      );
      incoming.pipe(forwarded);
    });
    this.#server.keepAliveTimeout = IDLE_MS;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  }

  add(backend: Backend): void {
    this.#ready.set(backend, false);
    void this.#poll(backend);
  }

  remove(backend: Backend): void {
    this.#ready.delete(backend);
  }

  isReady(backend: Backend): boolean {
    return this.#ready.get(backend) ?? false;
  }

  /** @returns the longest wait of a request for its response since the last call */
  takeLongestMs(): number {
    const longestMs = this.#longestMs;
    this.#longestMs = 0;
    return longestMs;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #poll(backend: Backend): Promise<void> {
    while (!this.#ending.signal.aborted && this.#ready.has(backend)) {
      const ready = await fetch(`${backend.opsUrl}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (this.#ready.has(backend)) this.#ready.set(backend, ready);
      await sleep(this.#everyMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
  }
}

function badGateway(response: ServerResponse, code: string): void {
  if (!response.headersSent) response.writeHead(502, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code }));
}
