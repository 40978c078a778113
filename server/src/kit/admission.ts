import { monotonicMs } from './clock.ts';

/** Target for the average duration of an admitted request; p99 then stays far below a second. */
const TARGET_MS = 200;
/** When requests are slow without load (for example with a distant standby), the target is twice that duration, up to this. */
const MAX_TARGET_MS = 500;
const ADJUST_EVERY_MS = 200;
/** Floor of the limit: below this, shedding load no longer helps. */
const MIN_LIMIT = 64;

/**
 * Adaptive limit of concurrent requests. Excess requests are rejected before any work, which costs almost nothing, so that
 * admitted requests finish in time under any load. The limit follows two measurements: the time from a complete request
 * to its end, which includes every queue in between (batcher, connection pool), and the time requests wait unread, which
 * is the event loop delay. It decreases while their sum is above the target and increases otherwise. The time a client
 * takes to send its body does not count.
 *
 * Fair between groups (organizations): at the limit, a group below its equal share is still admitted, so only groups
 * above their share are rejected.
 */
export class Admission {
  readonly #maxLimit: number;
  readonly #unreadMs: () => number;
  readonly #now: () => number;
  readonly #inFlightByGroup = new Map<string, number>();
  #limit: number;
  #total = 0;
  #adjustedAt: number;
  #done = 0;
  #doneMs = 0;
  #reachedLimit = false;
  /** Average duration of a request while the limit is not reached. */
  #unloadedMs = 0;

  /** @param unreadMs average time requests waited to be read since the previous call */
  constructor(maxLimit: number, unreadMs: () => number, now: () => number = monotonicMs) {
    this.#maxLimit = maxLimit;
    this.#unreadMs = unreadMs;
    this.#limit = maxLimit;
    this.#now = now;
    this.#adjustedAt = now();
  }

  get inFlight(): number {
    return this.#total;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** @returns null when the request is rejected */
  admit(group: string): AdmissionSlot | null {
    const own = this.#inFlightByGroup.get(group) ?? 0;
    if (this.#total >= this.limit) {
      this.#reachedLimit = true;
      const groups = this.#inFlightByGroup.size + (own === 0 ? 1 : 0);
      const share = Math.max(1, Math.floor(this.#limit / groups));
      // Hard limit for the case of more groups than slots.
      if (own >= share || this.#total >= 2 * this.#maxLimit) return null;
    }
    this.#inFlightByGroup.set(group, own + 1);
    this.#total += 1;
    return new AdmissionSlot(this.#now, (since) => this.#released(group, since));
  }

  #released(group: string, since: number | null): void {
    const own = this.#inFlightByGroup.get(group) ?? 0;
    if (own > 1) this.#inFlightByGroup.set(group, own - 1);
    else this.#inFlightByGroup.delete(group);
    this.#total -= 1;
    if (since === null) return;
    const now = this.#now();
    this.#done += 1;
    this.#doneMs += now - since;
    if (now - this.#adjustedAt >= ADJUST_EVERY_MS) this.#adjust(now);
  }

  /** The limit is lowered only if it was reached: otherwise it did not cause the latency. */
  #adjust(now: number): void {
    const averageMs = this.#unreadMs() + this.#doneMs / this.#done;
    if (!this.#reachedLimit) this.#unloadedMs += (averageMs - this.#unloadedMs) / 5;
    const targetMs = Math.min(MAX_TARGET_MS, Math.max(TARGET_MS, 2 * this.#unloadedMs));
    if (!this.#reachedLimit) this.#limit *= 1.05;
    else if (averageMs > targetMs) this.#limit *= 0.85;
    else if (averageMs < targetMs * 0.7) this.#limit *= 1.1;
    this.#limit = Math.min(this.#maxLimit, Math.max(Math.min(MIN_LIMIT, this.#maxLimit), this.#limit));
    this.#adjustedAt = now;
    this.#done = 0;
    this.#doneMs = 0;
    this.#reachedLimit = false;
  }
}

/** The slot of an admitted request. */
export class AdmissionSlot {
  readonly #now: () => number;
  #release: ((startedAt: number | null) => void) | null;
  #startedAt: number | null = null;

  constructor(now: () => number, release: (startedAt: number | null) => void) {
    this.#now = now;
    this.#release = release;
  }

  /** From here on the request handler releases the slot, not a client disconnect: the work continues without the client. */
  start(): void {
    this.#startedAt = this.#now();
  }

  /** The connection was closed, or the response was sent. */
  onDisconnect(): void {
    if (this.#startedAt === null) this.release();
  }

  /** Called when the work is done or only waits for another system. Idempotent. */
  release(): void {
    this.#release?.(this.#startedAt);
    this.#release = null;
  }
}
