import { performance } from 'node:perf_hooks';
import { deadline } from './deadline.ts';
import { ApiError } from './errors.ts';

/** Credentials are checked against revocations that are at most this old. */
const TRUSTED_FOR_MS = 1000;

/**
 * Time is extrapolated from a sample for this long: the monotonic clock drifts by microseconds a second. A request that was
 * admitted on a fresh sample must not fail because the next heartbeat is late.
 */
const EXTRAPOLATED_FOR_MS = 10_000;

/** Our UUIDv7 has 12 bits for the fraction of the millisecond. */
const SMALLEST_STEP_MS = 1 / 4096;

/** How the time of ids relates to business time: see docs/decisions/0035-monotonic-ids.md. */
export interface IdRange {
  /** How far ids are ahead of business time: positive for a while after the database's clock went back. */
  readonly leadMs: number;
  /** No id is assigned before this: earlier ids exist. */
  readonly floorMs: number;
  /** No id is assigned after this until the database's high-water mark is raised. */
  readonly limitMs: number;
}

const UNLIMITED: IdRange = { leadMs: 0, floorMs: 0, limitMs: Number.POSITIVE_INFINITY };

/** Resolves when the database was queried at or after this monotonic time; rejects with `service_unavailable`. */
type Renew = (sinceMs: number) => Promise<void>;

/**
 * Business time in this process: the database's `caudal.now()`, sampled by the heartbeat about twice a second and
 * extrapolated by the monotonic clock in between. It assigns ids and decides whether a credential has expired; everything
 * else about time is decided inside the database.
 */
export class BusinessClock {
  #businessMs = 0;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #last = 0;
  #ids = UNLIMITED;
  #renew: Renew = () => Promise.reject(databaseUnavailable());

  /** @param takenAt monotonic time at which the query was sent: the sample is at most this old */
  sample(businessMs: number, takenAt: number, ids: IdRange = UNLIMITED): void {
    // Two heartbeat queries may overlap: the one sent last has the newer time.
    if (takenAt < this.#sampledAt) return;
    this.#businessMs = businessMs;
    this.#sampledAt = takenAt;
    this.#ids = ids;
  }

  /** @param renew takes a sample on demand */
  setRenewal(renew: Renew): void {
    this.#renew = renew;
  }

  /**
   * The time for a new id: milliseconds with a fraction, always later than before, also when the database's clock goes
   * back. Throws when the last sample is older than ten seconds.
   */
  now(): number {
    const { floorMs, limitMs } = this.#ids;
    // One age for both: with a later age the lead would shrink by more than the time has advanced.
    const age = this.ageMs;
    const next = Math.max(this.#timeAt(age) + this.#idLeadAt(age), floorMs, this.#last + SMALLEST_STEP_MS);
    if (next > limitMs) throw databaseUnavailable();
    this.#last = next;
    return next;
  }

  /** Business time, for deadlines: it follows the database's clock, backwards too. Throws like `now`. */
  time(): number {
    return this.#timeAt(this.ageMs);
  }

  #timeAt(age: number): number {
    if (age > deadline(EXTRAPOLATED_FOR_MS)) throw databaseUnavailable();
    return this.#businessMs + age;
  }

  /**
   * By how much ids run ahead of business time. While they do, they advance at half its speed, also between two samples:
   * otherwise the ids of a process whose heartbeat is late would run ahead of those of the other processes.
   */
  get idLeadMs(): number {
    return this.#idLeadAt(this.ageMs);
  }

  #idLeadAt(age: number): number {
    return Math.max(0, this.#ids.leadMs - age / 2);
  }

  /** Whether the time and the revocations read with it are at most a second old. */
  get fresh(): boolean {
    return this.ageMs <= deadline(TRUSTED_FOR_MS);
  }

  /**
   * Resolves when the last sample is at most a second older than this call, which may take a query.
   * @throws ApiError `service_unavailable` when the database does not respond in time
   */
  async whenFresh(): Promise<void> {
    if (!this.fresh) await this.#renew(performance.now() - deadline(TRUSTED_FOR_MS));
  }

  isSampledSince(sinceMs: number): boolean {
    return this.#sampledAt >= sinceMs;
  }

  get ageMs(): number {
    return performance.now() - this.#sampledAt;
  }
}

export function databaseUnavailable(): ApiError {
  return new ApiError('service_unavailable', { reason: 'the last database heartbeat is too old' });
}

export function monotonicMs(): number {
  return performance.now();
}

/** Wall clock of this machine, for metrics only: no decision depends on it. */
export function realSeconds(): number {
  return Date.now() / 1000;
}

/** Wall clock of this machine, for values that peers compare with their own clock, such as `webhook-timestamp`. */
export function realTime(): Date {
  return new Date();
}
