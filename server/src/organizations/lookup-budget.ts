import { ApiError } from '../kit/errors.ts';
import { RateLimit } from '../kit/rate-limit.ts';

/**
 * - `trusted`: a credential that this deployment made.
 * - `suspect`: one from an address that sent many invalid credentials. Merchants may share that address, so it has as many
 *   lookups as the others, but separate ones.
 * - `untagged`: one that may be made up.
 */
export type LookupClass = 'trusted' | 'suspect' | 'untagged';

const MAX_CONCURRENT: Readonly<Record<LookupClass, number>> = { trusted: 64, suspect: 64, untagged: 8 };
const MAX_UNTAGGED_PER_SECOND = 50;

// Created once: capturing the stack trace costs more than the rest of the rejection.
const OVERLOADED = new ApiError('overloaded', { reason: 'too many credential lookups' });

/** Bounds the database queries that unknown clients can cause. */
export class LookupBudget {
  readonly #running: Record<LookupClass, number> = { trusted: 0, suspect: 0, untagged: 0 };
  readonly #rate = new RateLimit('lookups');

  /** Runs a lookup within the budget of its class. @throws ApiError `overloaded` */
  async run<T>(lookupClass: LookupClass, lookup: () => Promise<T>): Promise<T> {
    if (this.#running[lookupClass] >= MAX_CONCURRENT[lookupClass] || this.#exceedsRate(lookupClass))
      throw OVERLOADED;
    this.#running[lookupClass] += 1;
    try {
      return await lookup();
    } finally {
      this.#running[lookupClass] -= 1;
    }
  }

  #exceedsRate(lookupClass: LookupClass): boolean {
    return (
      lookupClass === 'untagged' && this.#rate.take(lookupClass, MAX_UNTAGGED_PER_SECOND)?.allowed === false
    );
  }
}
