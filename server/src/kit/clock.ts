import { performance } from 'node:perf_hooks';
import { Fault } from './errors.ts';

/** Beyond this a sample of the database's clock is no longer trusted (nor the revocations that came with it). */
const TRUSTED_FOR_MS = 1000;

/** UUIDv7 as we make it carries 12 bits of the millisecond. */
const SMALLEST_STEP_MS = 1 / 4096;

/**
 * Business time in this process: the database's `caudal.now()`, brought by a poll every half second and carried on
 * by the monotonic clock in between. It stamps ids and judges the expiry of credentials; everything else about time
 * is decided inside the database.
 */
export class BusinessClock {
  #businessMs = 0;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #last = 0;

  /** @param takenAt monotonic time at which the database was asked: the sample can only be older than the answer */
  sample(businessMs: number, takenAt: number): void {
    // Two beats may be under way: the one asked last has the newer time.
    if (takenAt < this.#sampledAt) return;
    this.#businessMs = businessMs;
    this.#sampledAt = takenAt;
  }

  /** Milliseconds with a fraction, always later than before. Throws when the database has not been heard for a second. */
  now(): number {
    if (!this.fresh)
      throw new Fault('service_unavailable', { reason: 'the database has not been heard for a second' });
    const carried = this.#businessMs + (performance.now() - this.#sampledAt);
    // After a correction backwards time goes on in the smallest steps an id can show, so that ids still sort as made.
    this.#last = Math.max(carried, this.#last + SMALLEST_STEP_MS);
    return this.#last;
  }

  get fresh(): boolean {
    return performance.now() - this.#sampledAt <= TRUSTED_FOR_MS;
  }

  get ageMs(): number {
    return performance.now() - this.#sampledAt;
  }
}

export function monotonicMs(): number {
  return performance.now();
}

/** The wall clock of this machine, for whoever reads metrics: nothing is decided by it. */
export function realSeconds(): number {
  return Date.now() / 1000;
}

/** The time of this machine, where a receiver compares it with its own: `webhook-timestamp`. */
export function realTime(): Date {
  return new Date();
}
