import { monotonicMs } from '../../kit/clock.ts';
import { EventLoopDelay } from '../../kit/event-loop-delay.ts';

/** Bounds of the number of queues a process works on at once. */
const MAX_QUEUES = 1024;
const MIN_QUEUES = 24;
/** Failing queues have a limited share, so that they never take all slots. */
const MAX_FAILING = 256;
/** Queues that wait for a response. They cost little more than a connection. */
const MAX_SLOW = 4096;
const SLOW_AFTER_MS = 1000;
const ADJUST_EVERY_MS = 100;
/** Event loop delay above which the process is overloaded. */
const OVERLOADED_DELAY_MS = 20;

export interface Slot {
  /** A response arrived: the queue is not slow. */
  progress(): void;
  release(): void;
}

/**
 * Limits how many queues are worked on at once, adaptively: as many as the process handles without event loop delay. More
 * would make responses look late, and a single event would compete with the thousands of other merchants.
 *
 * A batch without a response for one second releases its slot to another queue: thousands of endpoints may start to hang
 * at the same time before their failures are known.
 */
export class DeliveryConcurrency {
  readonly #delay = new EventLoopDelay();
  readonly #onFree: () => void;
  #limit = 8 * MIN_QUEUES;
  #adjustedAt = monotonicMs();
  #taken = 0;
  #failing = 0;
  #slow = 0;
  /** Due queues are waiting for a slot. */
  #saturated = false;

  /** @param onFree called when a slot becomes free while queues are waiting */
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

  /** How many more queues may start, and how many of them may be failing ones. */
  free(): { readonly queues: number; readonly failing: number } {
    this.#adjustLimit();
    const queues = Math.max(0, this.limit - (this.#taken - this.#slow));
    this.#saturated = queues === 0;
    return { queues, failing: Math.max(0, Math.min(queues, MAX_FAILING - this.#failing)) };
  }

  /** Reports how many queues were leased: as many as requested means that more may be waiting. */
  leased(queues: number, requested: number): void {
    if (queues >= requested) this.#saturated = true;
  }

  acquire(failing: boolean): Slot {
    let slow = false;
    const setSlow = (now: boolean) => {
      if (now === slow || (now && this.#slow >= MAX_SLOW)) return;
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
      release: () => {
        clearTimeout(timer);
        setSlow(false);
        this.#taken -= 1;
        if (failing) this.#failing -= 1;
        this.#freed();
      },
    };
  }

  #freed(): void {
    if (this.#saturated) this.#onFree();
  }

  #adjustLimit(): void {
    const now = monotonicMs();
    if (now - this.#adjustedAt < ADJUST_EVERY_MS) return;
    this.#adjustedAt = now;
    if (this.#delay.takeMs() > OVERLOADED_DELAY_MS) this.#limit = Math.max(MIN_QUEUES, this.#limit * 0.8);
    else if (this.#saturated) this.#limit = Math.min(MAX_QUEUES, this.#limit * 1.25);
  }
}
