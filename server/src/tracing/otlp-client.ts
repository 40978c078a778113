import { Pool } from 'undici';
import { strictConnector } from '../kit/strict-tls.ts';

const CONNECT_WITHIN_MS = 3000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Statuses after which OTLP asks the client to send the same data again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** `failed`: the data may be sent again later. `rejected`: the collector will not accept this data. */
export type ExportResult =
  | { readonly kind: 'accepted'; readonly body: Buffer }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly reason: string };

export interface CollectorAddress {
  /** Without the path of a signal. */
  readonly endpoint: string;
  /** Secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** OTLP over HTTP with protobuf bodies to one collector. A call ends by its deadline and never throws. */
export class OtlpClient {
  readonly #address: CollectorAddress;
  readonly #prefix: string;
  readonly #pool: Pool;

  constructor(address: CollectorAddress) {
    const { origin, pathname } = new URL(address.endpoint);
    this.#address = address;
    this.#prefix = pathname.replace(/\/+$/, '');
    this.#pool = new Pool(origin, {
      connections: 2,
      connect: strictConnector(null, CONNECT_WITHIN_MS),
      keepAliveTimeout: 30_000,
      maxResponseSize: MAX_RESPONSE_BYTES,
    });
  }

  async send(signal: 'traces' | 'metrics', body: Uint8Array): Promise<ExportResult> {
    try {
      const response = await this.#pool.request({
        method: 'POST',
        path: `${this.#prefix}/v1/${signal}`,
        headers: { ...this.#address.headers, 'content-type': 'application/x-protobuf' },
        body,
        signal: AbortSignal.timeout(this.#address.timeoutMs),
      });
      const received = Buffer.from(await response.body.arrayBuffer());
      const { statusCode } = response;
      if (statusCode >= 200 && statusCode < 300) return { kind: 'accepted', body: received };
      const kind = RETRYABLE.has(statusCode) ? 'failed' : 'rejected';
      return { kind, reason: `status ${statusCode}` };
    } catch (error) {
      return { kind: 'failed', reason: toReason(error) };
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** The code of a network error; never a message, which could contain the address with its credentials. */
function toReason(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}
