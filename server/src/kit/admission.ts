import { monotonicMs } from './clock.ts';

/** A request let in should be done within this, on average: far from a second even for the slowest of a hundred. */
const GOAL_MS = 200;
/** Where a request takes long though nothing else is done, as with a standby far away, twice that is the goal; this at most. */
const MAX_GOAL_MS = 500;
const ADJUST_EVERY_MS = 200;
/** So many may come together at any time. A process that cannot do them in the time is beyond help by turning away. */
const LEAST = 64;

/**
 * How many requests may be worked on at once. More than a process can do in time are turned away at the door, where
 * that costs next to nothing: those let in are done in time, however many come. The number follows what is measured:
 * the time from having a request whole to being done with it, which holds every queue in between (the batcher's, the
 * pool's), and the time that requests wait unread while the process is busy, which is the delay of its event loop. It
 * shrinks while the two together are too long and grows again when they are not. How long a client takes to send its body
 * is its own affair and does not count.
 *
 * Fair between groups (organizations): when the house is full, a group with less than its equal share is still let in,
 * so whoever floods is turned away and the others are not.
 */
export class Admission {
  readonly #maxLimit: number;
  readonly #unreadMs: () => number;
  readonly #now: () => number;
  readonly #ofGroup = new Map<string, number>();
  #limit: number;
  #total = 0;
  #adjustedAt: number;
  #done = 0;
  #doneMs = 0;
  #reachedLimit = false;
  /** What a request takes while there is room. */
  #calmMs = 0;

  /** @param unreadMs how long requests waited to be read since it was last asked, on average */
  constructor(maxLimit: number, unreadMs: () => number, now: () => number = monotonicMs) {
    this.#maxLimit = maxLimit;
    this.#unreadMs = unreadMs;
    this.#limit = maxLimit;
    this.#now = now;
    this.#adjustedAt = now();
  }

  get inside(): number {
    return this.#total;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** @returns null when it is turned away */
  enter(group: string): AdmissionSlot | null {
    const own = this.#ofGroup.get(group) ?? 0;
    if (this.#total >= this.limit) {
      this.#reachedLimit = true;
      const groups = this.#ofGroup.size + (own === 0 ? 1 : 0);
      const share = Math.max(1, Math.floor(this.#limit / groups));
      // Twice as many as ever ends it where more groups come than there is room for one each.
      if (own >= share || this.#total >= 2 * this.#maxLimit) return null;
    }
    this.#ofGroup.set(group, own + 1);
    this.#total += 1;
    return new AdmissionSlot(this.#now, (since) => this.#left(group, since));
  }

  #left(group: string, since: number | null): void {
    const own = this.#ofGroup.get(group) ?? 0;
    if (own > 1) this.#ofGroup.set(group, own - 1);
    else this.#ofGroup.delete(group);
    this.#total -= 1;
    if (since === null) return;
    const now = this.#now();
    this.#done += 1;
    this.#doneMs += now - since;
    if (now - this.#adjustedAt >= ADJUST_EVERY_MS) this.#adjust(now);
  }

  /** A limit that nobody met says nothing about being too high, so only one that was met is lowered. */
  #adjust(now: number): void {
    const averageMs = this.#unreadMs() + this.#doneMs / this.#done;
    if (!this.#reachedLimit) this.#calmMs += (averageMs - this.#calmMs) / 5;
    const goalMs = Math.min(MAX_GOAL_MS, Math.max(GOAL_MS, 2 * this.#calmMs));
    if (!this.#reachedLimit) this.#limit *= 1.05;
    else if (averageMs > goalMs) this.#limit *= 0.85;
    else if (averageMs < goalMs * 0.7) this.#limit *= 1.1;
    this.#limit = Math.min(this.#maxLimit, Math.max(Math.min(LEAST, this.#maxLimit), this.#limit));
    this.#adjustedAt = now;
    this.#done = 0;
    this.#doneMs = 0;
    this.#reachedLimit = false;
  }
}

/** A request that was let in. */
export class AdmissionSlot {
  readonly #now: () => number;
  #leave: ((startedAt: number | null) => void) | null;
  #startedAt: number | null = null;

  constructor(now: () => number, leave: (startedAt: number | null) => void) {
    this.#now = now;
    this.#leave = leave;
  }

  /** From here on it is left by whoever works on it, and not by a client that hangs up: the work goes on without one. */
  begin(): void {
    this.#startedAt = this.#now();
  }

  /** The connection is gone, or the answer sent. */
  hungUp(): void {
    if (this.#startedAt === null) this.leave();
  }

  /** Done, or what follows waits for somebody else. Harmless to repeat. */
  leave(): void {
    this.#leave?.(this.#startedAt);
    this.#leave = null;
  }
}
