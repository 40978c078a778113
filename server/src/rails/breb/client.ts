import { z } from 'zod';
import { monotonicMs } from '../../kit/clock.ts';
import { JsonClient } from '../../kit/json-client.ts';

interface BrebClientOptions {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly deadlineMs: number;
}

const token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/** Transport to the Bre-B node: OAuth2 client credentials, JSON. Knows nothing of payins. */
export class BrebClient {
  readonly #options: BrebClientOptions;
  readonly #http: JsonClient;
  #token: { text: string; until: number } | null = null;
  #fetching: Promise<string> | null = null;

  constructor(options: BrebClientOptions) {
    this.#options = options;
    this.#http = new JsonClient(options.url, 8);
  }

  /** @throws when the node gave no answer that can be read, in all within the deadline */
  async post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
    const signal = AbortSignal.timeout(this.#options.deadlineMs);
    const token = await this.#accessToken(signal);
    const answer = await this.#send(path, body, token, signal);
    if (answer.status !== 401) return answer;
    // Another call may have renewed it meanwhile; only the token that was refused is thrown away.
    if (this.#token?.text === token) this.#token = null;
    return this.#send(path, body, await this.#accessToken(signal), signal);
  }

  #send(path: string, body: unknown, token: string, signal: AbortSignal) {
    const headers = { authorization: `Bearer ${token}` };
    return this.#http.call({ method: 'POST', path, headers, body, signal });
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
    const { clientId, clientSecret, deadlineMs } = this.#options;
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const answer = await this.#http.call({
      method: 'POST',
      path: '/oauth/token',
      headers: { authorization },
      body: { grant_type: 'client_credentials' },
      signal: AbortSignal.timeout(deadlineMs),
    });
    if (answer.status !== 200)
      throw new Error(`the node refused our client credentials with ${answer.status}`);
    const { access_token, expires_in } = token.parse(answer.body);
    // A minute early, so that a token does not end under way.
    this.#token = { text: access_token, until: monotonicMs() + Math.max(1, expires_in - 60) * 1000 };
    return access_token;
  }

  close(): Promise<void> {
    return this.#http.close();
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
