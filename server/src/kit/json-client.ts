import { Pool } from 'undici';

interface JsonResponse {
  readonly status: number;
  readonly body: unknown;
}

interface JsonCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Aborts the call; afterwards its outcome is unknown. */
  readonly signal: AbortSignal;
}

/** Far above the largest valid response. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** JSON over HTTP to one peer, with a deadline on every call. It never retries: only the caller knows whether that is safe. */
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
      maxResponseSize: MAX_RESPONSE_BYTES,
    });
  }

  /** @throws when there is no complete, valid response in time */
  async call(call: JsonCall): Promise<JsonResponse> {
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
    // Only a 200 must be JSON: a 401 or 503 of an intermediary often has an HTML page or no body.
    return { status: statusCode, body: statusCode === 200 ? (JSON.parse(text) as unknown) : null };
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
