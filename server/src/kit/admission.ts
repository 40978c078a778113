import { monotonicMs } from './clock.ts';

/** A request let in should be done within this, on average: far from a second even for the slowest of a hundred. */
const GOAL_MS = 200;
const JUDGE_EVERY_MS = 200;
/** A process that cannot do so many at once in the time is beyond help by turning away. */
const LEAST = 16;

/**
 * How many requests may be worked on at once. More than a process can do in time are turned away at the door, where
 * that costs next to nothing: those let in are done in time, however many come. The number follows what is measured:
 * the time from being let in to being done, which holds every queue in between (the batcher's, the pool's), and the time
 * that requests wait unread while the process is busy, which is the delay of its event loop. It shrinks while the two
 * together are too long and grows again when they are not.
 *
 * Fair between groups (organizations): when the house is full, a group with less than its equal share is still let in,
 * so whoever floods is turned away and the others are not.
 */
export class Admission {
  readonly #most: number;
  readonly #unreadMs: () => number;
  readonly #now: () => number;
  readonly #ofGroup = new Map<string, number>();
  #limit: number;
  #total = 0;
  #judgedAt: number;
  #done = 0;
  #doneMs = 0;
  #reachedLimit = false;

  /** @param unreadMs how long requests waited to be read since it was last asked, on average */
  constructor(most: number, unreadMs: () => number, now: () => number = monotonicMs) {
    this.#most = most;
    this.#unreadMs = unreadMs;
    this.#limit = most;
    this.#now = now;
    this.#judgedAt = now();
  }

  get inside(): number {
    return this.#total;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** @returns null when it is turned away */
  enter(group: string): Place | null {
    const own = this.#ofGroup.get(group) ?? 0;
    if (this.#total >= this.limit) {
      this.#reachedLimit = true;
      const groups = this.#ofGroup.size + (own === 0 ? 1 : 0);
      const share = Math.max(1, Math.floor(this.#limit / groups));
      // Twice the limit ends it where more groups come than there is room for one each.
      if (own >= share || this.#total >= 2 * this.#limit) return null;
    }
    this.#ofGroup.set(group, own + 1);
    this.#total += 1;
    const since = this.#now();
    return new Place(() => this.#left(group, since));
  }

  #left(group: string, since: number): void {
    const own = this.#ofGroup.get(group) ?? 0;
    if (own > 1) this.#ofGroup.set(group, own - 1);
    else this.#ofGroup.delete(group);
    this.#total -= 1;
    const now = this.#now();
    this.#done += 1;
    this.#doneMs += now - since;
    if (now - this.#judgedAt >= JUDGE_EVERY_MS) this.#judge(now);
  }

  /** A limit that nobody met says nothing about being too high, so only one that was met is lowered. */
  #judge(now: number): void {
    const averageMs = this.#unreadMs() + this.#doneMs / this.#done;
    if (!this.#reachedLimit) this.#limit *= 1.05;
    else if (averageMs > GOAL_MS) this.#limit *= 0.85;
    else if (averageMs < GOAL_MS * 0.7) this.#limit *= 1.1;
    this.#limit = Math.min(this.#most, Math.max(Math.min(LEAST, this.#most), this.#limit));
    this.#judgedAt = now;
    this.#done = 0;
    this.#doneMs = 0;
    this.#reachedLimit = false;
  }
}

/** A request that was let in. */
export class Place {
  #leave: (() => void) | null;
  #begun = false;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /** From here on it is left by whoever works on it, and not by a client that hangs up: the work goes on without one. */
  begin(): void {
    this.#begun = true;
  }

  /** The connection is gone, or the answer sent. */
  hungUp(): void {
    if (!this.#begun) this.leave();
  }

  /** Done, or what follows waits for somebody else. Harmless to repeat. */
  leave(): void {
    this.#leave?.();
    this.#leave = null;
  }
}
