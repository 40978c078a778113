import { setTimeout as sleep } from 'node:timers/promises';
import { type CaudalEvent, webhooks } from '@caudal/sdk';
import { eventFacts } from './event-line.ts';
import type { Screen } from './screen.ts';

const ANSWER_WITHIN_MS = 30_000;
/** A local server that is being restarted by its developer is back within seconds. */
const AGAIN_AFTER_MS = [250, 500, 1000, 2000, 4000];
const MOST_WAITING = 500;

interface Forwarded {
  readonly id: string;
  readonly event: string;
  readonly url: string;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

/** Posts events to a local address, one after the other in the order they came, signed as the service would. */
export class Forwarder {
  readonly #screen: Screen;
  readonly #url: string;
  readonly #secret: string;
  readonly #signal: AbortSignal;
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(screen: Screen, url: string, secret: string, signal: AbortSignal) {
    this.#screen = screen;
    this.#url = url;
    this.#secret = secret;
    this.#signal = signal;
  }

  /** Resolves at once, unless too many are waiting already. */
  async take(event: CaudalEvent): Promise<void> {
    this.#waiting += 1;
    this.#tail = this.#tail.then(async () => {
      if (!this.#signal.aborted) this.#tell(event, await this.#post(event));
      this.#waiting -= 1;
    });
    if (this.#waiting >= MOST_WAITING) await this.#tail;
  }

  /** When all that was taken has been answered. */
  idle(): Promise<void> {
    return this.#tail;
  }

  async #post(event: CaudalEvent): Promise<Forwarded> {
    // What the stream carries is what a delivery carries: parsed and printed again it is the same text.
    const body = JSON.stringify(event);
    const facts = { id: event.id, event: event.event, url: this.#url };
    for (let attempt = 0; ; attempt += 1) {
      const began = performance.now();
      const durationMs = () => Math.round(performance.now() - began);
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
          signal: AbortSignal.any([this.#signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
        });
        await response.body?.cancel();
        return { ...facts, statusCode: response.status, durationMs: durationMs(), error: null };
      } catch (error) {
        const again = AGAIN_AFTER_MS[attempt];
        if (!isRefused(error) || again === undefined || this.#signal.aborted)
          return { ...facts, statusCode: null, durationMs: durationMs(), error: reasonOf(error) };
        await sleep(again, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    }
  }

  #tell(event: CaudalEvent, { statusCode, durationMs, error, url }: Forwarded): void {
    const good = statusCode !== null && statusCode >= 200 && statusCode < 300;
    const colour = good ? 'green' : 'red';
    const look = (text: string) =>
      this.#screen.json ? this.#screen.styleNote(colour, text) : this.#screen.style(colour, text);
    const answer = statusCode === null ? (error ?? '') : String(statusCode);
    const line = `          -> ${look(answer)} in ${durationMs} ms  POST ${url}  ${eventFacts(event).reference}`;
    // A program that reads events gets events alone.
    if (this.#screen.json) this.#screen.note(line.trimEnd());
    else this.#screen.print(line.trimEnd());
    if (!good) this.#screen.note(`             again: caudal listen --since ${event.id} --forward-to ${url}`);
  }
}

function isRefused(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === 'ECONNREFUSED';
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no answer in ${ANSWER_WITHIN_MS / 1000} s`;
  if (cause?.code === 'ECONNREFUSED') return 'nobody listens there';
  return cause?.message ?? (error instanceof Error ? error.message : String(error));
}
