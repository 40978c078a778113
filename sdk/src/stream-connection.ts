import { type Attempt, type HttpResponse, readText, sendRequest } from './attempt.ts';
import type { Calls } from './calls.ts';
import { classifyResponse } from './classify-response.ts';
import type { CallContext, CaudalError } from './errors.ts';
import type { CaudalEvent } from './generated/schemas.ts';
import type { ReportEnd } from './hooks.ts';
import type { FetchResponse, Signal } from './platform.ts';
import { buildRequest } from './request.ts';
import { MessageReader } from './server-sent-events.ts';

/** The API sends a heartbeat every 15 seconds: without data for this long the connection is dead. */
const SILENCE_MS = 45_000;

/** One connection to the event stream. All failures are `CaudalError`s. */
export class StreamConnection {
  readonly #calls: Calls;
  readonly #context: CallContext;
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort();
  readonly #signal: Signal | undefined;
  #response: FetchResponse | null = null;
  /** Of a rejected connection. */
  #rejection: HttpResponse | null = null;
  /** Null before the request and once the stream is connected. */
  #reportEnd: ReportEnd | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeLimitMs = 0;
  #timedOut = false;

  constructor(calls: Calls, signal: Signal | undefined, attempts: number) {
    this.#calls = calls;
    this.#signal = signal;
    this.#context = { operation: 'events.stream', attempts, idempotencyKey: null, outcomeUnknown: false };
    signal?.addEventListener('abort', this.#abort);
  }

  /** @returns the server's time in milliseconds */
  async open(event: string | undefined, lastEventId: string | null): Promise<number> {
    const { defaults } = this.#calls;
    const request = buildRequest(
      defaults,
      'streamEvents',
      { query: { event } },
      {
        idempotencyKey: null,
        headers: {
          accept: 'text/event-stream, application/problem+json',
          ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
        },
      },
    );
    const { operation, attempts: attempt, idempotencyKey } = this.#context;
    this.#reportEnd = defaults.hooks.start(request, {
      operation,
      attempt,
      idempotencyKey,
      signal: this.#signal,
    });
    const response = await this.#withTimeout(defaults.timeoutMs, () =>
      sendRequest(defaults.fetch, request, this.#controller.signal),
    );
    const { status, headers } = response;
    if (status !== 200 || !headers.get('content-type')?.startsWith('text/event-stream')) {
      const text = await this.#withTimeout(defaults.timeoutMs, () => readText(response));
      // A 200 with another content type is an unexpected response: an empty text prevents parsing it as success.
      throw this.#error({ kind: 'response', status, headers, text: status === 200 ? '' : text });
    }
    this.#response = response;
    this.#reportEnd(response, null, null);
    this.#reportEnd = null;
    const date = Date.parse(headers.get('date') ?? '');
    return Number.isNaN(date) ? Date.now() : date;
  }

  /** Yields events until the server closes the connection. */
  async *events(): AsyncGenerator<CaudalEvent, void, undefined> {
    const reader = this.#response?.body?.getReader();
    const messages = new MessageReader();
    if (!reader) return;
    for (;;) {
      const { done, value } = await this.#withTimeout(SILENCE_MS, () => reader.read());
      if (done || !value) return;
      for (const { data } of messages.read(value)) yield JSON.parse(data) as CaudalEvent;
    }
  }

  /** Tells the hooks that the connection was rejected or failed; does nothing when it was established. */
  reportFailure(error: CaudalError, retryInMs: number | null): void {
    this.#reportEnd?.(this.#rejection, error, retryInMs);
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }

  async #withTimeout<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.#controller.abort();
    }, ms);
    this.#timeLimitMs = ms;
    try {
      return await work();
    } catch (error) {
      throw this.#error(
        this.#timedOut
          ? { kind: 'timed_out' }
          : this.#signal?.aborted
            ? { kind: 'aborted', neverSent: true }
            : { kind: 'connection_failed', cause: error, neverSent: true },
      );
    } finally {
      clearTimeout(this.#timer);
    }
  }

  #error(attempt: Attempt): CaudalError {
    if (attempt.kind === 'response') this.#rejection = attempt;
    const result = classifyResponse(attempt, this.#calls.defaults.baseUrl, this.#timeLimitMs);
    if (result.kind === 'succeeded') throw new TypeError('expected a failed attempt');
    return result.error(this.#context);
  }
}
