import { OPERATIONS } from '../../src/http/api/operations.ts';
import { problemSchema } from '../../src/http/openapi.ts';
import { until } from './until.ts';

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
 * test passes on a response that the OpenAPI document does not describe.
 */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>> = {}) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
  }

  with(headers: Readonly<Record<string, string>>): ApiClient {
    return new ApiClient(this.#baseUrl, { ...this.#headers, ...headers });
  }

  as(apiKey: string): ApiClient {
    return new ApiClient(this.#baseUrl, { 'x-api-key': apiKey });
  }

  at(baseUrl: string): ApiClient {
    return new ApiClient(baseUrl, this.#headers);
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

  /**
   * Posts until the answer is not 503 `service_unavailable`, which says that nothing was done: after a time shift a process
   * stamps no ids until its next heartbeat.
   */
  postWhenAvailable<Body>(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse<Body>> {
    return until(`POST ${path} is available`, async () => {
      const answer = await this.post<Body>(path, body, headers);
      return answer.status === 503 && answer.text.includes('"service_unavailable"') ? false : answer;
    });
  }

  async request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    call: Call = {},
  ): Promise<ApiResponse<Body>> {
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
