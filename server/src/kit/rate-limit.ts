import { monotonicMs } from './clock.ts';

/** So many seconds' worth may come at once: a shop's rush is let through, a flood is not. */
const BURST_SECONDS = 5;
/** So many names are remembered; beyond that those whose bucket is full again go. */
const MOST_NAMES = 50_000;

interface Bucket {
  perSecond: number;
  tokens: number;
  filledAt: number;
  policy: string;
}

/** What a request is told about its limit, as header values (draft-ietf-httpapi-ratelimit-headers-11). */
export interface Allowance {
  readonly allowed: boolean;
  readonly policy: string;
  readonly limit: string;
}

/** A token bucket for each name, in memory: taking from it costs no query and less than a microsecond. */
export class RateLimit {
  readonly #policyName: string;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param policyName what clients see it called */
  constructor(policyName: string, now: () => number = monotonicMs) {
    this.#policyName = policyName;
    this.#now = now;
  }

  /** @returns null where there is no limit (`perSecond` is 0) */
  take(name: string, perSecond: number): Allowance | null {
    if (perSecond === 0) return null;
    const bucket = this.#bucket(name, perSecond);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    // A bucket refills all the time, so `r` is what is there now, and holds for the next second at the least.
    const limit = `"${this.#policyName}";r=${Math.floor(bucket.tokens)};t=1`;
    return { allowed, policy: bucket.policy, limit };
  }

  /** For a request that was let through here and then turned away for no fault of its own. */
  giveBack(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket) bucket.tokens = Math.min(bucket.tokens + 1, bucket.perSecond * BURST_SECONDS);
  }

  #bucket(name: string, perSecond: number): Bucket {
    const now = this.#now();
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      if (this.#buckets.size >= MOST_NAMES) this.#forgetFull(now);
      bucket = {
        perSecond,
        tokens: perSecond * BURST_SECONDS,
        filledAt: now,
        policy: this.#policy(perSecond),
      };
      this.#buckets.set(name, bucket);
      return bucket;
    }
    if (bucket.perSecond !== perSecond) {
      bucket.perSecond = perSecond;
      bucket.policy = this.#policy(perSecond);
    }
    bucket.tokens = filled(bucket, now);
    bucket.filledAt = now;
    return bucket;
  }

  #policy(perSecond: number): string {
    return `"${this.#policyName}";q=${perSecond * BURST_SECONDS};w=${BURST_SECONDS}`;
  }

  /** A full bucket forgotten is the same bucket when its name comes back. */
  #forgetFull(now: number): void {
    for (const [name, bucket] of this.#buckets) {
      if (filled(bucket, now) >= bucket.perSecond * BURST_SECONDS) this.#buckets.delete(name);
    }
  }
}

function filled({ tokens, filledAt, perSecond }: Bucket, now: number): number {
  return Math.min(perSecond * BURST_SECONDS, tokens + ((now - filledAt) / 1000) * perSecond);
}
