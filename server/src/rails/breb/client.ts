import { Pool } from 'undici';
import { z } from 'zod';
import { monotonicMs } from '../../kit/clock.ts';
import { JsonClient } from '../../kit/json-client.ts';

interface BrebClientOptions {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Timeout of fetching a token; each call has its own. */
  readonly tokenDeadlineMs: number;
}

interface NodeAnswer {
  readonly status: number;
  readonly body: unknown;
}

const token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/** Larger than any directory response. */
const MAX_DIRECTORY_RESPONSE_BYTES = 64 * 1024;

/** Transport to the Bre-B node: OAuth2 client credentials and JSON. It knows nothing about payins and payouts. */
export class BrebClient {
  readonly #options: BrebClientOptions;
  readonly #http: JsonClient;
  /** Separate from the bulk calls: many interactive key lookups must not delay orders. */
  readonly #directory: Pool;
  readonly #prefix: string;
  #token: { text: string; until: number } | null = null;
  #fetching: Promise<string> | null = null;

  constructor(options: BrebClientOptions) {
    this.#options = options;
    this.#http = new JsonClient(options.url, 8);
    const address = new URL(options.url);
    this.#prefix = address.pathname.replace(/\/+$/, '');
    this.#directory = new Pool(address.origin, {
      connections: 8,
      connect: { timeout: 3000 },
      keepAliveTimeout: 30_000,
      maxResponseSize: MAX_DIRECTORY_RESPONSE_BYTES,
    });
  }

  /**
   * @param signal aborts the call, including the renewal of the token
   * @throws when the node gives no readable response
   */
  post(path: string, body: unknown, signal: AbortSignal): Promise<NodeAnswer> {
    return this.#withToken(signal, (headers) =>
      this.#http.call({ method: 'POST', path, headers, body, signal }),
    );
  }

  /**
   * Like `post`, for the directory, whose rejections carry a reason in their body. The body is null if it is not JSON.
   * @throws when the node gives no response, or an unreadable 200
   */
  consult(path: string, body: unknown, signal: AbortSignal): Promise<NodeAnswer> {
    return this.#withToken(signal, async (headers) => {
      const { statusCode: status, body: answer } = await this.#directory.request({
        method: 'POST',
        path: this.#prefix + path,
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal,
      });
      const text = await answer.text();
      return { status, body: status === 200 ? (JSON.parse(text) as unknown) : jsonOrNull(text) };
    });
  }

  async #withToken(
    signal: AbortSignal,
    send: (headers: Readonly<Record<string, string>>) => Promise<NodeAnswer>,
  ): Promise<NodeAnswer> {
    const token = await this.#accessToken(signal);
    const answer = await send({ authorization: `Bearer ${token}` });
    if (answer.status !== 401) return answer;
    // Drops only the rejected token: a concurrent call may already have renewed it.
    if (this.#token?.text === token) this.#token = null;
    return send({ authorization: `Bearer ${await this.#accessToken(signal)}` });
  }

  /** Concurrent callers share one fetch; each waits at most until its own deadline. */
  async #accessToken(signal: AbortSignal): Promise<string> {
    if (this.#token && monotonicMs() < this.#token.until) return this.#token.text;
    this.#fetching ??= this.#fetchToken().finally(() => {
      this.#fetching = null;
    });
    return orAborted(this.#fetching, signal);
  }

  async #fetchToken(): Promise<string> {
    const { clientId, clientSecret, tokenDeadlineMs } = this.#options;
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const answer = await this.#http.call({
      method: 'POST',
      path: '/oauth/token',
      headers: { authorization },
      body: { grant_type: 'client_credentials' },
      signal: AbortSignal.timeout(tokenDeadlineMs),
    });
    if (answer.status !== 200)
      throw new Error(`the Bre-B node rejected our client credentials with status ${answer.status}`);
    const { access_token, expires_in } = token.parse(answer.body);
    // Renews a minute early, so that a token does not expire during a call.
    this.#token = { text: access_token, until: monotonicMs() + Math.max(1, expires_in - 60) * 1000 };
    return access_token;
  }

  async close(): Promise<void> {
    await Promise.all([this.#http.close(), this.#directory.destroy()]);
  }
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
