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
  /** From the first byte sent to the last byte read; after it the outcome is not known. */
  readonly deadlineMs: number;
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
      signal: AbortSignal.timeout(call.deadlineMs),
    });
    return { status: statusCode, body: await body.json() };
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
