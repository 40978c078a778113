import type { IncomingMessage, ServerResponse } from 'node:http';
import { monotonicMs } from '../kit/clock.ts';
import type { Language } from '../kit/error-catalogue.ts';
import type { ApiError } from '../kit/errors.ts';
import { randomBase32 } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import type { Counter, Metrics } from '../kit/metrics.ts';
import { languageOf } from './language.ts';
import { problemBody } from './problem.ts';

const TELL_EVERY_MS = 10_000;
const LEFT_OUT = '\u0000';

/** Counts the requests that are turned away at the door, and writes their answers past the framework: whoever floods must cost little. */
export class RejectionWriter {
  readonly #baseUrl: string;
  readonly #log: Log;
  readonly #counter: Counter;
  readonly #texts = new Map<string, readonly string[]>();
  #untold = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: { readonly baseUrl: string; readonly metrics: Metrics; readonly log: Log }) {
    this.#baseUrl = options.baseUrl;
    this.#log = options.log;
    this.#counter = options.metrics.counter(
      'caudal_http_requests_rejected_total',
      'Requests of merchants turned away before anything was done, by why and what they were.',
    );
  }

  count(fault: ApiError, kind: string, organizationId: string): void {
    this.#counter.add({ reason: fault.code, kind });
    this.#untold += 1;
    const now = monotonicMs();
    if (now - this.#toldAt < TELL_EVERY_MS) return;
    // A line for each would cost more than the refusal itself.
    this.#log.warn(
      { code: fault.code, count: this.#untold, organizationId },
      'requests are being turned away',
    );
    this.#untold = 0;
    this.#toldAt = now;
  }

  send(
    request: IncomingMessage,
    response: ServerResponse,
    fault: ApiError,
    headers: Readonly<Record<string, string>>,
  ): void {
    const requestId = `req_${randomBase32(20)}`;
    const language = languageOf(request.headers['accept-language']);
    const [instance = '/'] = (request.url ?? '/').split('?');
    const [before, between, after] = this.#textOf(fault, language);
    const body = `${before}${JSON.stringify(instance)}${between}${JSON.stringify(requestId)}${after}`;
    response.writeHead(fault.entry.status, {
      'x-request-id': requestId,
      ...headers,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-language': language,
      'retry-after': String(fault.retryAfterSeconds ?? 1),
      'content-length': Buffer.byteLength(body),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  /** The problem's text without what is another in each: written once. */
  #textOf(fault: ApiError, language: Language): readonly string[] {
    const name = `${fault.code} ${language}`;
    let text = this.#texts.get(name);
    if (!text) {
      const context = { baseUrl: this.#baseUrl, requestId: LEFT_OUT, instance: LEFT_OUT, language };
      text = JSON.stringify(problemBody(fault, context)).split(JSON.stringify(LEFT_OUT));
      this.#texts.set(name, text);
    }
    return text;
  }
}
