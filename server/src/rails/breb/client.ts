import { Pool } from 'undici';
import { z } from 'zod';
import { monotonicMs } from '../../kit/clock.ts';
import { JsonClient } from '../../kit/json-client.ts';

interface BrebClientOptions {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** For fetching a token; the calls themselves bring their own. */
  readonly tokenDeadlineMs: number;
}

interface NodeAnswer {
  readonly status: number;
  readonly body: unknown;
}

const token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/** More than the directory ever says of one key. */
const LARGEST_LISTING = 64 * 1024;

/** Transport to the Bre-B node: OAuth2 client credentials, JSON. Knows nothing of payins and payouts. */
export class BrebClient {
  readonly #options: BrebClientOptions;
  readonly #http: JsonClient;
  /** Apart from the bulk calls: whoever looks up a key waits for it, and cannot hold up orders by looking up many. */
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
      maxResponseSize: LARGEST_LISTING,
    });
  }

  /**
   * @param signal ends it, the renewal of a token included
   * @throws when the node gave no answer that can be read
   */
  post(path: string, body: unknown, signal: AbortSignal): Promise<NodeAnswer> {
    return this.#withToken(signal, (headers) =>
      this.#http.call({ method: 'POST', path, headers, body, signal }),
    );
  }

  /**
   * The same for the directory, whose refusals say why in their body; it is null where nobody can read it.
   * @throws when the node gave no answer, or a 200 that cannot be read
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
    // Another call may have renewed it meanwhile; only the token that was refused is thrown away.
    if (this.#token?.text === token) this.#token = null;
    return send({ authorization: `Bearer ${await this.#accessToken(signal)}` });
  }

  /** One fetch for all that wait; each of them waits no longer than its own deadline. */
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
      throw new Error(`the node refused our client credentials with ${answer.status}`);
    const { access_token, expires_in } = token.parse(answer.body);
    // A minute early, so that a token does not end under way.
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
