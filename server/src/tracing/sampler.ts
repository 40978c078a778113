import { randomFraction } from '../kit/ids.ts';
import { RateLimit } from '../kit/rate-limit.ts';
import type { CallerContext } from '../kit/trace-context.ts';

/**
 * Requests per second and process that are sampled because their caller samples them. The flag comes from merchants and
 * payers, who must not be able to cause work without limit.
 */
const CALLER_SAMPLED_PER_SECOND = 10;

export interface Sampling {
  /** Share of the requests that are sampled, from 0 to 1. */
  readonly ratio: number;
  /** Whether the flag of a caller's `traceparent` is followed, up to the limit. */
  readonly followsCaller: boolean;
}

/**
 * Decides which requests are sampled. The share is drawn at random and not from the trace id, which a caller chooses. The
 * flag "not sampled" of a caller changes nothing: a merchant cannot hide its requests.
 */
export class RequestSampler {
  readonly #sampling: Sampling;
  readonly #callerLimit = new RateLimit('traces');

  constructor(sampling: Sampling) {
    this.#sampling = sampling;
  }

  isSampled(caller: CallerContext | null): boolean {
    const { ratio, followsCaller } = this.#sampling;
    if (ratio > 0 && randomFraction() < ratio) return true;
    if (!followsCaller || caller?.sampled !== true) return false;
    return this.#callerLimit.take('caller', CALLER_SAMPLED_PER_SECOND)?.allowed === true;
  }
}
