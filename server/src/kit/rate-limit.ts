import { monotonicMs } from './clock.ts';

/** Burst size in seconds of the rate: it allows short peaks, not floods. */
const BURST_SECONDS = 5;
/** Above this many buckets, full ones are removed. */
const MAX_BUCKETS = 50_000;

interface Bucket {
  perSecond: number;
  tokens: number;
  filledAt: number;
  policy: string;
}

/** Rate limit decision, with its header values (draft-ietf-httpapi-ratelimit-headers-11). */
export interface Allowance {
  readonly allowed: boolean;
  readonly policy: string;
  readonly limit: string;
}

/** In-memory token bucket per name: a check costs no query and less than a microsecond. */
export class RateLimit {
  readonly #policyName: string;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param policyName name of the policy in the response headers */
  constructor(policyName: string, now: () => number = monotonicMs) {
    this.#policyName = policyName;
    this.#now = now;
  }

  /** @returns null when there is no limit (`perSecond` is 0) */
  take(name: string, perSecond: number): Allowance | null {
    if (perSecond === 0) return null;
    const bucket = this.#bucket(name, perSecond);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    // The bucket refills continuously, so `r` is the current value and is available for at least the next second.
    const limit = `"${this.#policyName}";r=${Math.floor(bucket.tokens)};t=1`;
    return { allowed, policy: bucket.policy, limit };
  }

  /** Returns the token of a request that was allowed here but rejected later for another reason. */
  refund(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket) bucket.tokens = Math.min(bucket.tokens + 1, bucket.perSecond * BURST_SECONDS);
  }

  #bucket(name: string, perSecond: number): Bucket {
    const now = this.#now();
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#removeFull(now);
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
    bucket.tokens = refilledTokens(bucket, now);
    bucket.filledAt = now;
    return bucket;
  }

  #policy(perSecond: number): string {
    return `"${this.#policyName}";q=${perSecond * BURST_SECONDS};w=${BURST_SECONDS}`;
  }

  /** Removing a full bucket changes nothing: a new bucket starts full. */
  #removeFull(now: number): void {
    for (const [name, bucket] of this.#buckets) {
      if (refilledTokens(bucket, now) >= bucket.perSecond * BURST_SECONDS) this.#buckets.delete(name);
    }
  }
}

function refilledTokens({ tokens, filledAt, perSecond }: Bucket, now: number): number {
  return Math.min(perSecond * BURST_SECONDS, tokens + ((now - filledAt) / 1000) * perSecond);
}
