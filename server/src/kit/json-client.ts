import { Pool } from 'undici';
import { strictConnector, type TlsMaterial } from './strict-tls.ts';
import { activeTrace, formatTraceparent } from './trace-context.ts';

export interface JsonResponse {
  readonly status: number;
  readonly body: unknown;
  /** Of the header Retry-After; null without one in seconds. */
  readonly retryAfterMs: number | null;
}

interface JsonCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Aborts the call; afterwards its outcome is unknown. */
  readonly signal: AbortSignal;
}

interface JsonClientOptions {
  /** Far above the largest valid response. */
  readonly maxResponseBytes?: number;
  /** Whether responses other than 200 may have a JSON body. */
  readonly readsRejections?: boolean;
  /** Null: the CA certificates of the system, and no client certificate. */
  readonly tls: TlsMaterial | null;
}

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** JSON over HTTP to one peer, with a deadline on every call. It never retries: only the caller knows whether that is safe. */
export class JsonClient {
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #readsRejections: boolean;

  constructor(baseUrl: string, connections: number, options: JsonClientOptions) {
    const address = new URL(baseUrl);
    this.#readsRejections = options.readsRejections ?? false;
    this.#prefix = address.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(address.origin, {
      connections,
      connect: strictConnector(options.tls, 3000),
      keepAliveTimeout: 30_000,
      maxResponseSize: options.maxResponseBytes ?? MAX_RESPONSE_BYTES,
    });
  }

  /** @throws when there is no complete, valid response in time */
  async call(call: JsonCall): Promise<JsonResponse> {
    const trace = activeTrace();
    const { statusCode, headers, body } = await this.#pool.request({
      method: call.method,
      path: this.#prefix + call.path,
      headers: {
        accept: 'application/json',
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(trace ? { traceparent: formatTraceparent(trace) } : {}),
        ...call.headers,
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: call.signal,
    });
    const text = await body.text();
    const retryAfterMs = readRetryAfter(headers['retry-after']);
    if (statusCode === 200) return { status: statusCode, body: JSON.parse(text) as unknown, retryAfterMs };
    // Only a 200 must be JSON: a 401 or 503 of an intermediary often has an HTML page or no body.
    return { status: statusCode, body: this.#readsRejections ? jsonOrNull(text) : null, retryAfterMs };
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

function readRetryAfter(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : null;
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
