import { performance } from 'node:perf_hooks';
import { Fault } from './errors.ts';

/** A credential is verified against revocations that are at most this old. */
const TRUSTED_FOR_MS = 1000;

/**
 * Time is extrapolated from a sample for this long: the monotonic clock drifts by microseconds a second. A request that was
 * admitted on a fresh sample must not fail because the next heartbeat is late.
 */
const EXTRAPOLATED_FOR_MS = 10_000;

/** UUIDv7 as we make it carries 12 bits of the millisecond. */
const SMALLEST_STEP_MS = 1 / 4096;

/** How the time of ids relates to business time: see docs/decisions/0035-ids-never-go-back.md. */
export interface IdRange {
  /** By how much ids run ahead of business time: more than zero for a while after the database's clock went back. */
  readonly leadMs: number;
  /** No id is stamped before this: earlier ones exist. */
  readonly floorMs: number;
  /** No id is stamped after this before the database's high-water mark was raised. */
  readonly limitMs: number;
}

const UNLIMITED: IdRange = { leadMs: 0, floorMs: 0, limitMs: Number.POSITIVE_INFINITY };

/** Resolves when the database was queried at or after this monotonic time; rejects with `service_unavailable`. */
type Renew = (sinceMs: number) => Promise<void>;

/**
 * Business time in this process: the database's `caudal.now()`, sampled by the heartbeat about twice a second and
 * extrapolated by the monotonic clock in between. It stamps ids and decides whether a credential has expired; everything
 * else about time is decided inside the database.
 */
export class BusinessClock {
  #businessMs = 0;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #last = 0;
  #ids = UNLIMITED;
  #renew: Renew = () => Promise.reject(databaseSilent());

  /** @param takenAt monotonic time at which the database was asked: the sample can only be older than the answer */
  sample(businessMs: number, takenAt: number, ids: IdRange = UNLIMITED): void {
    // Two beats may be under way: the one asked last has the newer time.
    if (takenAt < this.#sampledAt) return;
    this.#businessMs = businessMs;
    this.#sampledAt = takenAt;
    this.#ids = ids;
  }

  /** @param renew how a sample is taken on demand */
  renewBy(renew: Renew): void {
    this.#renew = renew;
  }

  /**
   * The time for a new id: milliseconds with a fraction, always later than before, also when the database's clock goes
   * back. Throws when the last sample is older than ten seconds.
   */
  now(): number {
    const { floorMs, limitMs } = this.#ids;
    const next = Math.max(this.time() + this.idLeadMs, floorMs, this.#last + SMALLEST_STEP_MS);
    if (next > limitMs) throw databaseSilent();
    this.#last = next;
    return next;
  }

  /** Business time, for deadlines: it follows the database's clock, backwards too. Throws like `now`. */
  time(): number {
    if (this.ageMs > EXTRAPOLATED_FOR_MS) throw databaseSilent();
    return this.#businessMs + this.ageMs;
  }

  /**
   * By how much ids run ahead of business time. While they do, they advance at half its speed, also between two samples:
   * otherwise the ids of a process whose heartbeat is late would run ahead of those of the other processes.
   */
  get idLeadMs(): number {
    return Math.max(0, this.#ids.leadMs - this.ageMs / 2);
  }

  /** Whether the time, and the revocations that came with it, are at most a second old. */
  get fresh(): boolean {
    return this.ageMs <= TRUSTED_FOR_MS;
  }

  /**
   * Resolves when the last sample is at most a second older than this call, which may take a query.
   * @throws Fault `service_unavailable` when the database does not answer in time
   */
  async whenFresh(): Promise<void> {
    if (!this.fresh) await this.#renew(performance.now() - TRUSTED_FOR_MS);
  }

  isSampledSince(sinceMs: number): boolean {
    return this.#sampledAt >= sinceMs;
  }

  get ageMs(): number {
    return performance.now() - this.#sampledAt;
  }
}

export function databaseSilent(): Fault {
  return new Fault('service_unavailable', { reason: 'the database has not been heard for a second' });
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
