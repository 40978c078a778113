import { Pool } from 'undici';

interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface JsonCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Ends the call, whatever it is waiting for; after it the outcome is not known. */
  readonly signal: AbortSignal;
}

/** More than a peer of ours ever answers; beyond it something is wrong with the peer. */
const LARGEST_ANSWER = 4 * 1024 * 1024;

/** JSON over HTTP to one peer, with a deadline on every call. Never retries: only the caller knows what is safe. */
export class JsonClient {
  readonly #pool: Pool;
  readonly #prefix: string;

  constructor(baseUrl: string, connections: number) {
    const address = new URL(baseUrl);
    this.#prefix = address.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(address.origin, {
      connections,
      connect: { timeout: 3000 },
      keepAliveTimeout: 30_000,
      maxResponseSize: LARGEST_ANSWER,
    });
  }

  /** @throws when there is no complete, readable answer in time */
  async call(call: JsonCall): Promise<JsonAnswer> {
    const { statusCode, body } = await this.#pool.request({
      method: call.method,
      path: this.#prefix + call.path,
      headers: {
        accept: 'application/json',
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: call.signal,
    });
    const text = await body.text();
    // Only a 200 must be readable: a 401 or 503 of something in between often comes with a page or nothing.
    return { status: statusCode, body: statusCode === 200 ? (JSON.parse(text) as unknown) : null };
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
