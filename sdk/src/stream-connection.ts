import { type Attempt, openAnswer, readText } from './attempt.ts';
import type { Calls } from './calls.ts';
import { judge } from './classify-response.ts';
import type { CallFacts, CaudalError } from './errors.ts';
import type { CaudalEvent } from './event.ts';
import type { FetchAnswer, Signal } from './platform.ts';
import { requestOf } from './request.ts';
import { MessageReader } from './server-sent-events.ts';

/** The API says every 15 seconds that a stream lives: longer silence than this is a broken one. */
const SILENCE_MS = 45_000;

/** One connection to the stream of events: opened, read to its end, closed. Its failures are `CaudalError`s. */
export class StreamConnection {
  readonly #calls: Calls;
  readonly #facts: CallFacts;
  readonly #ending = new AbortController();
  readonly #abort = () => this.#ending.abort();
  readonly #signal: Signal | undefined;
  #answer: FetchAnswer | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeLimitMs = 0;
  #timedOut = false;

  constructor(calls: Calls, signal: Signal | undefined, attempts: number) {
    this.#calls = calls;
    this.#signal = signal;
    this.#facts = { operation: 'events.stream', attempts, idempotencyKey: null, outcomeUnknown: false };
    signal?.addEventListener('abort', this.#abort);
  }

  /** @returns the time by the API's clock, in milliseconds */
  async open(event: string | undefined, lastEventId: string | null): Promise<number> {
    const { defaults } = this.#calls;
    const request = requestOf(
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
    const answer = await this.#within(defaults.timeoutMs, () =>
      openAnswer(defaults.fetch, request, this.#ending.signal),
    );
    const { status, headers } = answer;
    if (status !== 200 || !headers.get('content-type')?.startsWith('text/event-stream')) {
      const text = await this.#within(defaults.timeoutMs, () => readText(answer));
      // A body that can be read is no stream either.
      throw this.#error({ kind: 'answered', status, headers, text: status === 200 ? '' : text });
    }
    this.#answer = answer;
    const date = Date.parse(headers.get('date') ?? '');
    return Number.isNaN(date) ? Date.now() : date;
  }

  /** Until the connection ends in order. */
  async *events(): AsyncGenerator<CaudalEvent, void, undefined> {
    const reader = this.#answer?.body?.getReader();
    const messages = new MessageReader();
    if (!reader) return;
    for (;;) {
      const { done, value } = await this.#within(SILENCE_MS, () => reader.read());
      if (done || !value) return;
      for (const { data } of messages.read(value)) yield JSON.parse(data) as CaudalEvent;
    }
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#ending.abort();
  }

  async #within<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.#ending.abort();
    }, ms);
    this.#timeLimitMs = ms;
    try {
      return await work();
    } catch (error) {
      throw this.#error(
        this.#timedOut
          ? { kind: 'timed out' }
          : this.#signal?.aborted
            ? { kind: 'aborted', neverSent: true }
            : { kind: 'broken', cause: error, neverSent: true },
      );
    } finally {
      clearTimeout(this.#timer);
    }
  }

  #error(attempt: Attempt): CaudalError {
    const verdict = judge(attempt, this.#calls.defaults.baseUrl, this.#timeLimitMs);
    if (verdict.kind === 'done') throw new TypeError('an answer that is no failure');
    return verdict.error(this.#facts);
  }
}
