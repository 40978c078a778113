import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { monotonicMs } from '../../kit/clock.ts';
import { type Connection, KeptConnections } from './connection-pool.ts';
import { isPublicAddress } from './public-address.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { type FailureReason, reasonOf, SendFailure } from './send-failure.ts';
import { lookUpAll, type Resolve } from './vetted-connection.ts';

export interface WebhookRequest {
  /** As `validateWebhookUrl` gave it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type SendResult =
  | {
      readonly kind: 'answered';
      /** Whatever it is: 3xx too, which nobody follows. */
      readonly status: number;
      readonly retryAfterSeconds: number | null;
      /** The beginning of the body as text, for the merchant to recognise; 512 bytes at most. */
      readonly firstBytes: string;
      readonly durationMs: number;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly durationMs: number };

export interface SenderOptions {
  readonly resolve?: Resolve;
  /** Which addresses may be connected to; a deployment for development adds `isLoopbackAddress`. */
  readonly isAllowed?: (address: string) => boolean;
  readonly connectMs?: number;
  readonly totalMs?: number;
  readonly idleMs?: number;
  readonly lifeMs?: number;
  readonly ca?: string;
}

const DEFAULTS = {
  resolve: lookUpAll,
  isAllowed: isPublicAddress,
  connectMs: 3000,
  totalMs: 10_000,
  idleMs: 10_000,
  lifeMs: 60_000,
};

const LARGEST_BODY = 64 * 1024;
const FIRST_BYTES = 512;
/** Endpoints are few and their deliveries many: to take an address apart costs as much as to write its request. */
const KNOWN_DESTINATIONS = 1000;

/**
 * Posts to addresses that strangers chose, from inside our network. It connects only where vetted-connection.ts lets
 * it, follows no redirect, inflates nothing, knows no proxy, and ends by its deadline whatever the peer does.
 * It never logs: an address can hold secrets of the merchant.
 */
export class WebhookSender {
  readonly #connections: KeptConnections;
  readonly #totalMs: number;
  readonly #destinations = new Map<string, Destination>();

  constructor(options: SenderOptions = {}) {
    const rules = { ...DEFAULTS, ...options };
    this.#totalMs = rules.totalMs;
    this.#connections = new KeptConnections({
      ...rules,
      connectMs: Math.min(rules.connectMs, rules.totalMs),
    });
  }

  /** Never throws: whatever happens is a result. */
  async send(request: WebhookRequest): Promise<SendResult> {
    const startedAt = monotonicMs();
    const result = await this.#exchange(request).catch(
      (error: unknown) => ({ kind: 'failed', reason: reasonOf(error) }) as const,
    );
    return { ...result, durationMs: Math.round(monotonicMs() - startedAt) };
  }

  /** Connections that wait are closed; a send under way fails with `reset`. */
  close(): void {
    this.#connections.close();
  }

  get idleConnections(): number {
    return this.#connections.idle;
  }

  async #exchange(request: WebhookRequest) {
    const destination = this.#destinationOf(request.url);
    const connection = this.#connections.take(destination.origin);
    let late = false;
    // An aborted request would wait for its connection first; to drop the connection ends it at once.
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

  #destinationOf(text: string): Destination {
    const known = this.#destinations.get(text);
    if (known) return known;
    const url = URL.parse(text);
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') throw new SendFailure('malformed');
    const destination = { origin: url.origin, host: url.host, path: url.pathname + url.search };
    if (this.#destinations.size >= KNOWN_DESTINATIONS) this.#destinations.clear();
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
    if (complete) this.#connections.giveBack(connection);
    else this.#connections.drop(connection);
    return {
      kind: 'answered',
      status,
      retryAfterSeconds: retryAfterSeconds(one(headers['retry-after']), one(headers['date'])),
      firstBytes,
    } as const;
  }
}

/** Ours win: a header of the merchant's choice must not say for which host the request is, or invite compression. */
function requestHeaders(given: Readonly<Record<string, string>>, host: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
  headers['host'] = host;
  headers['accept-encoding'] = 'identity';
  return headers;
}

/** An address taken apart. */
interface Destination {
  readonly origin: string;
  readonly host: string;
  /** With its query. */
  readonly path: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly firstBytes: string;
  /** Whether the body was read to its end. */
  readonly complete: boolean;
}

/**
 * The status is the answer and the body only evidence: a body that is too long, never ends or breaks off does not
 * make a message that was acknowledged be sent again for a month. By undici's own events instead of a stream: an answer is
 * a few bytes, and the stream around them cost more than all the rest of a delivery's sending.
 */
function exchange(client: Dispatcher, options: Dispatcher.DispatchOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let read = 0;
    let status = 0;
    let headers: Answer['headers'] = {};
    const answered = (complete: boolean) =>
      resolve({ status, headers, firstBytes: textOf(Buffer.concat(chunks)), complete });
    client.dispatch(options, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode, received) => {
        status = statusCode;
        headers = received;
      },
      onResponseData: (_controller, chunk) => {
        if (read < FIRST_BYTES) chunks.push(Buffer.from(chunk.subarray(0, FIRST_BYTES - read)));
        read += chunk.length;
        if (read > LARGEST_BODY) answered(false);
      },
      onResponseEnd: () => answered(true),
      onResponseError: (_controller, error) => {
        if (status >= 200) answered(false);
        else reject(error);
      },
    });
  });
}

/** Without half a character at the end, and without NUL, which no text of PostgreSQL holds. */
function textOf(bytes: Buffer): string {
  // Nearly always it is whole and well formed, and a decoder costs more to make than to use.
  const text = isUtf8(bytes)
    ? bytes.toString('utf8')
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  return text.replaceAll('\0', '\uFFFD');
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
