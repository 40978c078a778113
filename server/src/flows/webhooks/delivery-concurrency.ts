import { monotonicMs } from '../../kit/clock.ts';
import { EventLoopDelay } from '../../kit/event-loop-delay.ts';

/** Lines a process works at the same time. */
const MOST = 1024;
const LEAST = 24;
/** Those known to fail have a share and no more, so that however many there are the others have places. */
const MOST_FAILING = 256;
/** Those that wait for an answer. They cost little but a connection. */
const MOST_SLOW = 4096;
const SLOW_AFTER_MS = 1000;
const ADJUST_EVERY_MS = 100;
/** What is ready waits so long for the process: it has more at once than it can do. */
const LATE_MS = 20;

export interface Slot {
  /** An answer came: it is not waiting. */
  progress(): void;
  leave(): void;
}

/**
 * How many lines are worked at once: as many as the process can do without any of them waiting for it. More would make
 * answers that are there look late, and a merchant's single event wait in one crowd with everybody's thousands.
 *
 * A turn in which nothing came for a second gives its place up to another: thousands of endpoints may begin to hang
 * together before anybody knows which.
 */
export class DeliveryConcurrency {
  readonly #delay = new EventLoopDelay();
  readonly #onFree: () => void;
  #limit = 8 * LEAST;
  #judgedAt = monotonicMs();
  #taken = 0;
  #failing = 0;
  #slow = 0;
  /** Lines wait for a place. */
  #crowded = false;

  /** @param onFree there is a place, and somebody waited for one */
  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  get taken(): number {
    return this.#taken;
  }

  get slow(): number {
    return this.#slow;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** How many more may be begun, and how many of those that fail. */
  free(): { readonly queues: number; readonly failing: number } {
    this.#judge();
    const queues = Math.max(0, this.limit - (this.#taken - this.#slow));
    this.#crowded = queues === 0;
    return { queues, failing: Math.max(0, Math.min(queues, MOST_FAILING - this.#failing)) };
  }

  /** Fewer were found than there were places for, or as many. */
  found(queues: number, asked: number): void {
    if (queues >= asked) this.#crowded = true;
  }

  take(failing: boolean): Slot {
    let slow = false;
    const setSlow = (now: boolean) => {
      if (now === slow || (now && this.#slow >= MOST_SLOW)) return;
      slow = now;
      this.#slow += now ? 1 : -1;
      if (now) this.#freed();
    };
    const timer = setTimeout(() => setSlow(true), SLOW_AFTER_MS);
    this.#taken += 1;
    if (failing) this.#failing += 1;
    return {
      progress: () => {
        setSlow(false);
        timer.refresh();
      },
      leave: () => {
        clearTimeout(timer);
        setSlow(false);
        this.#taken -= 1;
        if (failing) this.#failing -= 1;
        this.#freed();
      },
    };
  }

  #freed(): void {
    if (this.#crowded) this.#onFree();
  }

  #judge(): void {
    const now = monotonicMs();
    if (now - this.#judgedAt < ADJUST_EVERY_MS) return;
    this.#judgedAt = now;
    if (this.#delay.takeMs() > LATE_MS) this.#limit = Math.max(LEAST, this.#limit * 0.8);
    else if (this.#crowded) this.#limit = Math.min(MOST, this.#limit * 1.25);
  }
}
