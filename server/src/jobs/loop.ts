import type { FailureLog } from '../db/failure-log.ts';
import { monotonicMs } from '../kit/clock.ts';

/** A loop rests four times as long as its run took, so that one round handles the work of several commits. */
const REST_FACTOR = 4;

interface LoopOptions {
  readonly name: string;
  /** Maximum rest between two runs of a loop that is woken continuously. */
  readonly restMs: number;
  /** Runs one round; returns the number of items it found. */
  readonly round: () => Promise<number>;
  readonly failures: FailureLog;
  /** Called after a round that found work. */
  readonly onWork: () => void;
}

/**
 * Runs rounds of one kind of due work when it is woken, until a round finds none. A wake-up during a run leads to another
 * run, because that round may have read the database before the new work was committed.
 */
export class Loop {
  readonly #options: LoopOptions;
  #stopped = false;
  #woken = false;
  #restUntil = 0;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#running !== null;
  }

  wake(): void {
    if (this.#stopped) return;
    this.#woken = true;
    if (this.#running || this.#timer) return;
    const waitMs = this.#restUntil - monotonicMs();
    if (waitMs <= 0) return this.#start();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#start();
    }, waitMs);
  }

  /** Resolves when the round in progress is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#running = this.#run().then(() => {
      this.#running = null;
      if (this.#woken) this.wake();
    });
  }

  async #run(): Promise<void> {
    const { name, restMs, round, failures, onWork } = this.#options;
    const startedAt = monotonicMs();
    let found = 0;
    try {
      do {
        this.#woken = false;
        found = await round();
        if (found > 0) onWork();
      } while (found > 0 && !this.#stopped);
      failures.succeeded(name);
      this.#restUntil = monotonicMs() + Math.min(restMs, REST_FACTOR * (monotonicMs() - startedAt));
    } catch (error) {
      failures.failed(name, error);
      this.#restUntil = monotonicMs() + restMs;
    }
  }
}
