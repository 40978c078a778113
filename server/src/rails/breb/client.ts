import { z } from 'zod';
import { monotonicMs } from '../../kit/clock.ts';
import { JsonClient, type JsonResponse } from '../../kit/json-client.ts';
import type { TlsMaterial } from '../../kit/strict-tls.ts';

/** The address of the node and our credentials there. */
export interface BrebAccess {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tls: TlsMaterial | null;
}

interface BrebClientOptions extends BrebAccess {
  /** Timeout of fetching a token; each call has its own. */
  readonly tokenDeadlineMs: number;
}

const token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/** Larger than any directory response. */
const MAX_DIRECTORY_RESPONSE_BYTES = 64 * 1024;

/** There was no access token, so the request itself was not sent. */
export class TokenUnavailable extends Error {
  override readonly name = 'TokenUnavailable';

  constructor(cause: unknown) {
    super('no access token', { cause });
  }
}

/** Transport to the Bre-B node: OAuth2 client credentials and JSON. It knows nothing about payins and payouts. */
export class BrebClient {
  readonly #options: BrebClientOptions;
  readonly #http: JsonClient;
  /** Separate from the bulk calls: many interactive key lookups must not delay orders. */
  readonly #directory: JsonClient;
  #token: { text: string; until: number } | null = null;
  #fetching: Promise<string> | null = null;

  constructor(options: BrebClientOptions) {
    this.#options = options;
    this.#http = new JsonClient(options.url, 8, { tls: options.tls });
    this.#directory = new JsonClient(options.url, 8, {
      maxResponseBytes: MAX_DIRECTORY_RESPONSE_BYTES,
      readsRejections: true,
      tls: options.tls,
    });
  }

  /**
   * @param signal aborts the call, including the renewal of the token
   * @throws when the node gives no readable response
   */
  post(path: string, body: unknown, signal: AbortSignal): Promise<JsonResponse> {
    return this.#withToken(signal, (headers) =>
      this.#http.call({ method: 'POST', path, headers, body, signal }),
    );
  }

  /**
   * Like `post`, for the directory, whose rejections carry a reason in their body. The body is null if it is not JSON.
   * @throws when the node gives no response, or an unreadable 200
   */
  consult(path: string, body: unknown, signal: AbortSignal): Promise<JsonResponse> {
    return this.#withToken(signal, (headers) =>
      this.#directory.call({ method: 'POST', path, headers, body, signal }),
    );
  }

  async #withToken(
    signal: AbortSignal,
    send: (headers: Readonly<Record<string, string>>) => Promise<JsonResponse>,
  ): Promise<JsonResponse> {
    const token = await this.#accessToken(signal).catch((error: unknown) => {
      throw new TokenUnavailable(error);
    });
    const answer = await send({ authorization: `Bearer ${token}` });
    if (answer.status !== 401) return answer;
    // Drops only the rejected token: a concurrent call may already have renewed it.
    if (this.#token?.text === token) this.#token = null;
    try {
      return await send({ authorization: `Bearer ${await this.#accessToken(signal)}` });
    } catch {
      // An error could say that no connection was established, but the first request has reached the node.
      return answer;
    }
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
    await Promise.all([this.#http.close(), this.#directory.close()]);
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
