import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { monotonicMs } from '../../kit/clock.ts';
import { deadline } from '../../kit/deadline.ts';
import { type Connection, ConnectionPool } from './connection-pool.ts';
import { isPublicAddress } from './public-address.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { type FailureReason, SendFailure, toFailureReason } from './send-failure.ts';
import { type Resolve, resolveAllAddresses } from './vetted-connection.ts';

export interface WebhookRequest {
  /** Serialized by `validateWebhookUrl`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type SendResult =
  | {
      readonly kind: 'answered';
      /** Any status, including 3xx: redirects are not followed. */
      readonly status: number;
      readonly retryAfterSeconds: number | null;
      /** First 512 bytes of the body as text, shown to the merchant. */
      readonly firstBytes: string;
      readonly durationMs: number;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly durationMs: number };

export interface SenderOptions {
  readonly resolve?: Resolve;
  /** Addresses allowed as destinations; development deployments also allow `isLoopbackAddress`. */
  readonly isAllowed?: (address: string) => boolean;
  readonly connectMs?: number;
  readonly totalMs?: number;
  readonly idleMs?: number;
  readonly lifeMs?: number;
  readonly ca?: string;
}

const DEFAULTS = {
  resolve: resolveAllAddresses,
  isAllowed: isPublicAddress,
  connectMs: 3000,
  totalMs: 10_000,
  idleMs: 10_000,
  lifeMs: 60_000,
};

const MAX_BODY_BYTES = 64 * 1024;
const STORED_BODY_BYTES = 512;
/** Cached parsed URLs: endpoints are few and deliveries many, and parsing a URL costs as much as writing its request. */
const MAX_CACHED_DESTINATIONS = 1000;

/**
 * Posts to merchant-chosen URLs from inside our network. It connects only to addresses that vetted-connection.ts allows,
 * follows no redirects, decompresses nothing, uses no proxy, and always ends by its deadline.
 * It never logs: a URL can contain secrets of the merchant.
 */
export class WebhookSender {
  readonly #connections: ConnectionPool;
  readonly #totalMs: number;
  readonly #destinations = new Map<string, Destination>();

  constructor(options: SenderOptions = {}) {
    const rules = { ...DEFAULTS, ...options };
    this.#totalMs = rules.totalMs;
    this.#connections = new ConnectionPool({
      ...rules,
      connectMs: Math.min(deadline(rules.connectMs), rules.totalMs),
    });
  }

  /** Never throws: every failure is a result. */
  async send(request: WebhookRequest): Promise<SendResult> {
    const startedAt = monotonicMs();
    const result = await this.#exchange(request).catch(
      (error: unknown) => ({ kind: 'failed', reason: toFailureReason(error) }) as const,
    );
    return { ...result, durationMs: Math.round(monotonicMs() - startedAt) };
  }

  /** Closes idle connections; a send in progress fails with `reset`. */
  close(): void {
    this.#connections.close();
  }

  get idleConnections(): number {
    return this.#connections.idle;
  }

  async #exchange(request: WebhookRequest) {
    const destination = this.#parseDestination(request.url);
    const connection = this.#connections.acquire(destination.origin);
    let late = false;
    // Aborting the request would first wait for its connection; dropping the connection ends it immediately.
    const deadline = setTimeout(() => {
      late = true;
      this.#connections.drop(connection);
    }, this.#totalMs);
    try {
      return await this.#post(connection, destination, request);
    } catch (error) {
      this.#connections.drop(connection);
      throw late ? new SendFailure('timeout') : error;
    } finally {
      clearTimeout(deadline);
    }
  }

  #parseDestination(text: string): Destination {
    const known = this.#destinations.get(text);
    if (known) return known;
    const url = URL.parse(text);
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') throw new SendFailure('malformed');
    const destination = { origin: url.origin, host: url.host, path: url.pathname + url.search };
    if (this.#destinations.size >= MAX_CACHED_DESTINATIONS) this.#destinations.clear();
    this.#destinations.set(text, destination);
    return destination;
  }

  async #post(connection: Connection, { host, path }: Destination, request: WebhookRequest) {
    const { status, headers, firstBytes, complete } = await exchange(connection.client, {
      method: 'POST',
      path,
      headers: requestHeaders(request.headers, host),
      body: request.body,
    });
    if (complete) this.#connections.release(connection);
    else this.#connections.drop(connection);
    return {
      kind: 'answered',
      status,
      retryAfterSeconds: retryAfterSeconds(firstValue(headers['retry-after']), firstValue(headers['date'])),
      firstBytes,
    } as const;
  }
}

/** Our headers override the merchant's: a custom header must not change the host or request compression. */
function requestHeaders(custom: Readonly<Record<string, string>>, host: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(custom)) headers[name.toLowerCase()] = value;
  headers['host'] = host;
  headers['accept-encoding'] = 'identity';
  return headers;
}

/** A parsed URL. */
interface Destination {
  readonly origin: string;
  readonly host: string;
  /** Path with query. */
  readonly path: string;
}

interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly firstBytes: string;
  /** Whether the body was read completely. */
  readonly complete: boolean;
}

/**
 * The status decides the result; the body is only stored for the merchant. A body that is too long, never ends or breaks
 * off must not cause a month of retries of an acknowledged event. It uses undici's handler events instead of a stream:
 * a response is a few bytes, and the stream cost more than the rest of the delivery.
 */
function exchange(client: Dispatcher, options: Dispatcher.DispatchOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let read = 0;
    let status = 0;
    let headers: HttpResponse['headers'] = {};
    const finish = (complete: boolean) =>
      resolve({ status, headers, firstBytes: toText(Buffer.concat(chunks)), complete });
    client.dispatch(options, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode, received) => {
        status = statusCode;
        headers = received;
      },
      onResponseData: (_controller, chunk) => {
        if (read < STORED_BODY_BYTES) chunks.push(Buffer.from(chunk.subarray(0, STORED_BODY_BYTES - read)));
        read += chunk.length;
        if (read > MAX_BODY_BYTES) finish(false);
      },
      onResponseEnd: () => finish(true),
      onResponseError: (_controller, error) => {
        if (status >= 200) finish(false);
        else reject(error);
      },
    });
  });
}

/** Drops a partial character at the end and replaces NUL, which PostgreSQL text cannot store. */
function toText(bytes: Buffer): string {
  // Almost always valid UTF-8; creating a decoder costs more than using it.
  const text = isUtf8(bytes)
    ? bytes.toString('utf8')
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  return text.replaceAll('\0', '\uFFFD');
}

function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
