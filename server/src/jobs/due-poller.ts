import type { FailureLog } from '../db/failure-log.ts';
import { monotonicMs } from '../kit/clock.ts';

/** An idle worker polls this many times less often. */
const IDLE_FACTOR = 5;
/** A worker is idle after this many polls without work. */
const POLLS_TO_IDLE = 10;

interface DuePollerOptions {
  /** Poll interval of a worker that has work. */
  readonly everyMs: number;
  /** Wakes the loops whose work is due. */
  readonly poll: () => Promise<void>;
  /** Whether work is in progress, which may create more. */
  readonly busy: () => boolean;
  readonly failures: FailureLog;
}

/**
 * Polls the database for due work with one statement for all loops. Signals wake loops sooner; the poll finds work that
 * becomes due by time, work whose signal was lost, and work of a process that died.
 */
export class DuePoller {
  readonly #options: DuePollerOptions;
  #stopped = false;
  #timer: NodeJS.Timeout | null = null;
  #nextAt = 0;
  #workedAt = Number.NEGATIVE_INFINITY;
  #polling: Promise<void> | null = null;

  constructor(options: DuePollerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(0);
  }

  /** Called when a loop found work: the next poll comes soon, because work often creates more work. */
  worked(): void {
    this.#workedAt = monotonicMs();
    const { everyMs } = this.#options;
    if (this.#timer && this.#nextAt - this.#workedAt > everyMs) this.#schedule(everyMs);
  }

  /** Resolves when the poll in progress is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#polling;
  }

  #schedule(afterMs: number): void {
    if (this.#stopped) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#nextAt = monotonicMs() + afterMs;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#polling = this.#poll();
    }, afterMs);
  }

  async #poll(): Promise<void> {
    const { everyMs, poll, busy, failures } = this.#options;
    try {
      await poll();
      failures.succeeded('poll_due_work');
    } catch (error) {
      failures.failed('poll_due_work', error);
    }
    const idle = !busy() && monotonicMs() - this.#workedAt > POLLS_TO_IDLE * everyMs;
    this.#schedule(idle ? IDLE_FACTOR * everyMs : everyMs);
  }
}
