import { ApiError } from '../kit/errors.ts';
import { RateLimit } from '../kit/rate-limit.ts';

/** Concurrent lookups of credentials that this deployment made. */
const MAX_CONCURRENT = 64;
/** Lookups of other credentials, and of addresses that sent many invalid ones, so that they do not delay the former. */
const MAX_CONCURRENT_DOUBTFUL = 8;
const MAX_DOUBTFUL_PER_SECOND = 50;

// Created once: capturing the stack trace costs more than the rest of the rejection.
const OVERLOADED = new ApiError('overloaded', { reason: 'too many credential lookups' });

/** Bounds the database queries that unknown clients can cause. */
export class LookupBudget {
  #trusted = 0;
  #doubtful = 0;
  readonly #rate = new RateLimit('lookups');

  /** Runs a lookup within the budget of its class. @throws ApiError `overloaded` */
  async run<T>(doubtful: boolean, lookup: () => Promise<T>): Promise<T> {
    if (!doubtful) return this.#runTrusted(lookup);
    const full = this.#doubtful >= MAX_CONCURRENT_DOUBTFUL;
    if (full || this.#rate.take('doubtful', MAX_DOUBTFUL_PER_SECOND)?.allowed === false) throw OVERLOADED;
    this.#doubtful += 1;
    try {
      return await lookup();
    } finally {
      this.#doubtful -= 1;
    }
  }

  async #runTrusted<T>(lookup: () => Promise<T>): Promise<T> {
    if (this.#trusted >= MAX_CONCURRENT) throw OVERLOADED;
    this.#trusted += 1;
    try {
      return await lookup();
    } finally {
      this.#trusted -= 1;
    }
  }
}
