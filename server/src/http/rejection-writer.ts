import type { IncomingMessage, ServerResponse } from 'node:http';
import { monotonicMs } from '../kit/clock.ts';
import type { Language } from '../kit/error-catalogue.ts';
import type { ApiError } from '../kit/errors.ts';
import type { Log } from '../kit/log.ts';
import type { Counter, Metrics } from '../kit/metrics.ts';
import { negotiateLanguage } from './language.ts';
import { problemBody } from './problem.ts';
import { toRequestId } from './request-id.ts';
import { securityHeaders } from './security-headers.ts';

const LOG_INTERVAL_MS = 10_000;
/** Stands for the members that differ between two rejections with the same code. */
const PLACEHOLDER = '\u0000';

/** Counts rejected requests and writes their responses without the framework, so that a flood of requests stays cheap. */
export class RejectionWriter {
  readonly #baseUrl: string;
  readonly #securityHeaders: Readonly<Record<string, string>>;
  readonly #log: Log;
  readonly #counter: Counter;
  readonly #bodies = new Map<string, readonly string[]>();
  #unlogged = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: { readonly baseUrl: string; readonly metrics: Metrics; readonly log: Log }) {
    this.#baseUrl = options.baseUrl;
    this.#securityHeaders = securityHeaders(options.baseUrl);
    this.#log = options.log;
    this.#counter = options.metrics.counter(
      'caudal_http_requests_rejected_total',
      'Merchant requests rejected before any work was done, by reason and kind.',
      { reason: ['rate_limited', 'overloaded', 'service_unavailable'], kind: ['write', 'read'] },
    );
  }

  count(error: ApiError, kind: string, organizationId: string): void {
    this.#counter.add({ reason: error.code, kind });
    this.#unlogged += 1;
    const now = monotonicMs();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    // A log line per request would cost more than the rejection itself.
    this.#log.warn({ code: error.code, count: this.#unlogged, organizationId }, 'rejecting requests');
    this.#unlogged = 0;
    this.#loggedAt = now;
  }

  send(
    request: IncomingMessage,
    response: ServerResponse,
    error: ApiError,
    headers: Readonly<Record<string, string>>,
  ): void {
    const requestId = toRequestId(request);
    const language = negotiateLanguage(request.headers['accept-language']);
    const [instance = '/'] = (request.url ?? '/').split('?');
    const [before, between, after] = this.#bodyParts(error, language);
    const body = `${before}${JSON.stringify(instance)}${between}${JSON.stringify(requestId)}${after}`;
    response.writeHead(error.entry.status, {
      'x-request-id': requestId,
      ...this.#securityHeaders,
      ...headers,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-language': language,
      'retry-after': String(error.retryAfterSeconds ?? 1),
      'content-length': Buffer.byteLength(body),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  /** The constant parts of the problem body, serialized once per code and language. */
  #bodyParts(error: ApiError, language: Language): readonly string[] {
    const cacheKey = `${error.code} ${language}`;
    let parts = this.#bodies.get(cacheKey);
    if (!parts) {
      const context = { baseUrl: this.#baseUrl, requestId: PLACEHOLDER, instance: PLACEHOLDER, language };
      parts = JSON.stringify(problemBody(error, context)).split(JSON.stringify(PLACEHOLDER));
      this.#bodies.set(cacheKey, parts);
    }
    return parts;
  }
}
