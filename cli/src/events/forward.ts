import { setTimeout as sleep } from 'node:timers/promises';
import { type CaudalEvent, webhooks } from '@caudal/sdk';
import type { Screen } from '../output/screen.ts';
import { summarizeEvent } from './event-line.ts';

const RESPONSE_TIMEOUT_MS = 30_000;
/** Covers a local server that its developer is restarting. */
const RETRY_DELAYS_MS = [250, 500, 1000, 2000, 4000];
const MAX_PENDING = 500;

interface Forwarded {
  readonly id: string;
  readonly event: string;
  readonly url: string;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

/** Posts events to a local URL one at a time, in order, signed like webhook deliveries. */
export class Forwarder {
  readonly #screen: Screen;
  readonly #url: string;
  readonly #secret: string;
  readonly #signal: AbortSignal;
  #tail: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(screen: Screen, url: string, secret: string, signal: AbortSignal) {
    this.#screen = screen;
    this.#url = url;
    this.#secret = secret;
    this.#signal = signal;
  }

  /** Queues an event. Resolves at once, unless MAX_PENDING events are queued. */
  async enqueue(event: CaudalEvent): Promise<void> {
    this.#pending += 1;
    this.#tail = this.#tail.then(async () => {
      if (!this.#signal.aborted) this.#report(event, await this.#post(event));
      this.#pending -= 1;
    });
    if (this.#pending >= MAX_PENDING) await this.#tail;
  }

  /** Resolves when every queued event has been posted. */
  idle(): Promise<void> {
    return this.#tail;
  }

  async #post(event: CaudalEvent): Promise<Forwarded> {
    // The stream carries the same JSON as a delivery, so serializing the parsed event reproduces its body.
    const body = JSON.stringify(event);
    const eventFields = { id: event.id, event: event.event, url: this.#url };
    for (let attempt = 0; ; attempt += 1) {
      const startedAt = performance.now();
      const durationMs = () => Math.round(performance.now() - startedAt);
      try {
        const response = await fetch(this.#url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'caudal-listen',
            ...(await webhooks.sign({ body, secret: this.#secret, id: event.id })),
          },
          body,
          redirect: 'manual',
          signal: AbortSignal.any([this.#signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]),
        });
        await response.body?.cancel();
        return { ...eventFields, statusCode: response.status, durationMs: durationMs(), error: null };
      } catch (error) {
        const retryDelayMs = RETRY_DELAYS_MS[attempt];
        if (!isConnectionRefused(error) || retryDelayMs === undefined || this.#signal.aborted)
          return { ...eventFields, statusCode: null, durationMs: durationMs(), error: describeError(error) };
        await sleep(retryDelayMs, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    }
  }

  #report(event: CaudalEvent, { statusCode, durationMs, error, url }: Forwarded): void {
    const good = statusCode !== null && statusCode >= 200 && statusCode < 300;
    const color = good ? 'green' : 'red';
    const colorize = (text: string) =>
      this.#screen.json ? this.#screen.styleNote(color, text) : this.#screen.style(color, text);
    const outcome = statusCode === null ? (error ?? '') : String(statusCode);
    const line = `          -> ${colorize(outcome)} in ${durationMs} ms  POST ${url}  ${summarizeEvent(event).reference}`;
    // With --json stdout contains only events.
    if (this.#screen.json) this.#screen.note(line.trimEnd());
    else this.#screen.print(line.trimEnd());
    if (!good) this.#screen.note(`             retry: caudal listen --since ${event.id} --forward-to ${url}`);
  }
}

function isConnectionRefused(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === 'ECONNREFUSED';
}

function describeError(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no response in ${RESPONSE_TIMEOUT_MS / 1000} s`;
  if (cause?.code === 'ECONNREFUSED') return 'connection refused';
  return cause?.message ?? (error instanceof Error ? error.message : String(error));
}
