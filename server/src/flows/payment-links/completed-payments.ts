import type { Deps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { uuidFloor } from '../../kit/ids.ts';
import { COUNTED_PAYINS, countCompletedPayins } from '../../payins/completed-count.store.ts';

export const COUNTED_DAYS = 90;
const CACHED_FOR_MS = 600_000;
const MAX_CACHED = 10_000;
const BUCKETS = [1000, 100, 10] as const;

/** How many payments a shop received in the last 90 days, as a statement that stays true while it is cached. */
export type CompletedPayments =
  | { readonly kind: 'more_than'; readonly count: (typeof BUCKETS)[number] }
  | { readonly kind: 'at_most_ten' }
  | { readonly kind: 'unknown' };

/** Counts with a bounded query, at most once in ten minutes per shop and process. */
export class CompletedPaymentCounter {
  readonly #deps: Pick<Deps, 'read' | 'clock'>;
  readonly #cache = new Map<string, { readonly payments: CompletedPayments; readonly readAt: number }>();

  constructor(deps: Pick<Deps, 'read' | 'clock'>) {
    this.#deps = deps;
  }

  async count(organizationId: string): Promise<CompletedPayments> {
    const cached = this.#cache.get(organizationId);
    if (cached && monotonicMs() - cached.readAt < CACHED_FOR_MS) return cached.payments;
    const firstId = uuidFloor(this.#deps.clock.now() - COUNTED_DAYS * 86_400_000);
    const payments = toBucket(
      await this.#deps.read.read(organizationId, (tx) => countCompletedPayins(tx, organizationId, firstId)),
    );
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(organizationId, { payments, readAt: monotonicMs() });
    return payments;
  }
}

export function toBucket({
  completed,
  examined,
}: {
  completed: number;
  examined: number;
}): CompletedPayments {
  const count = BUCKETS.find((bucket) => completed > bucket);
  if (count !== undefined) return { kind: 'more_than', count };
  // The shop has more payins than were examined: few of the newest ones say nothing about the others.
  return { kind: examined < COUNTED_PAYINS ? 'at_most_ten' : 'unknown' };
}
