import { setTimeout as sleep } from 'node:timers/promises';
import { TIMED } from '../../../scripts/testing/expect-within.ts';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { OPERATIONS } from '../../src/http/api/operations.ts';
import { problemSchema } from '../../src/http/openapi.ts';
import { countRepeatedRequest } from './repeated-requests.ts';

/** Pause before a request is sent again. */
const PAUSE_MS = 50;

export interface ApiResponse<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

interface Call {
  readonly body?: unknown;
  /** Sent verbatim instead of `body`. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A merchant's HTTP client. Validates every response against the schema its operation declares, so that no
 * test passes on a response that the OpenAPI document does not describe. It sends a request again, with the same idempotency key,
 * while the answer is 503 `service_unavailable`, which says that nothing was done: a process whose heartbeat is late answers it.
 */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #repeats: boolean;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>> = {}, repeat = !TIMED) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
    this.#repeats = repeat;
  }

  /** The same client without repetitions, for tests that expect 503 `service_unavailable`. */
  get strict(): ApiClient {
    return new ApiClient(this.#baseUrl, this.#headers, false);
  }

  with(headers: Readonly<Record<string, string>>): ApiClient {
    return new ApiClient(this.#baseUrl, { ...this.#headers, ...headers }, this.#repeats);
  }

  as(apiKey: string): ApiClient {
    return new ApiClient(this.#baseUrl, { 'x-api-key': apiKey }, this.#repeats);
  }

  at(baseUrl: string): ApiClient {
    return new ApiClient(baseUrl, this.#headers, this.#repeats);
  }

  get<Body = Record<string, unknown>>(
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse<Body>> {
    return this.request<Body>('GET', path, { headers });
  }

  post<Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse<Body>> {
    return this.request<Body>('POST', path, { body, headers });
  }

  /** Posts until the answer is not 503 `service_unavailable`: after a time shift a process stamps no ids until its next heartbeat. */
  postWhenAvailable<Body>(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse<Body>> {
    return this.#requestUntilAvailable<Body>('POST', path, { body, headers });
  }

  request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    call: Call = {},
  ): Promise<ApiResponse<Body>> {
    return this.#repeats
      ? this.#requestUntilAvailable<Body>(method, path, call)
      : this.#requestOnce<Body>(method, path, call);
  }

  /** Any other failure ends it: after a lost connection the request may have had an effect. */
  async #requestUntilAvailable<Body>(method: string, path: string, call: Call): Promise<ApiResponse<Body>> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.#requestOnce<Body>(method, path, call);
      const available = answer.status !== 503 || !answer.text.includes('"service_unavailable"');
      if (available || performance.now() > deadline) return answer;
      countRepeatedRequest();
      await sleep(PAUSE_MS);
    }
  }

  async #requestOnce<Body>(method: string, path: string, call: Call): Promise<ApiResponse<Body>> {
    const content = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: {
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.#headers,
        ...call.headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '')
      ? (JSON.parse(text) as unknown)
      : null;
    validateResponse(method, path, response.status, json);
    const requestId = response.headers.get('x-request-id') ?? '';
    if (!requestId.startsWith('req_') && requestId !== call.headers?.['x-request-id'])
      throw new Error('response has no x-request-id header');
    return { status: response.status, headers: response.headers, body: json as Body, text };
  }
}

function validateResponse(method: string, path: string, status: number, body: unknown): void {
  if (status >= 400) {
    problemSchema.loose().parse(body);
    return;
  }
  const [pathname = ''] = path.split('?');
  const operation = OPERATIONS.find(
    (each) =>
      each.method === method && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  operation?.responses[status]?.schema.parse(body);
}
