import type { Deps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { type LeasedPayin, releaseLeases } from '../../payins/payin-lease.store.ts';
import type { CreatePayin } from './create-payins.ts';

const EVERY_MS = 500;
/** The duration of a lease: older leases have expired. */
const KEPT_FOR_MS = 20_000;
const MAX_WAITING = 10_000;

/**
 * After an unknown commit the payin may exist with a lease of this process, which will not process it. Releasing the lease
 * lets a worker fetch the bank page or register the key immediately instead of after twenty seconds, while the merchant
 * retries the request.
 */
export class UnknownCommitLeases {
  readonly #deps: Deps;
  #waiting: (LeasedPayin & { readonly since: number })[] = [];
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  add({ id, leaseToken, organization, source }: CreatePayin): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    const brebKey = source.rail === 'BRE_B' ? source.key : null;
    this.#waiting.push({ id, leaseToken, organizationId: organization.id, brebKey, since: monotonicMs() });
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#closed || this.#timer !== null || this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => void this.#release(), EVERY_MS);
  }

  async #release(): Promise<void> {
    const payins = this.#waiting.filter(({ since }) => monotonicMs() - since < KEPT_FOR_MS);
    this.#waiting = [];
    try {
      const organizations = new Set(payins.map((payin) => payin.organizationId));
      if (payins.length > 0)
        await this.#deps.batch.write('release unknown commits', organizations, (tx) =>
          releaseLeases(tx, payins),
        );
      this.#deps.signals.raise('key_registration', 'pse_opening');
      this.#deps.failures.succeeded('release_unknown_commits');
    } catch (error) {
      this.#deps.failures.failed('release_unknown_commits', error);
      this.#waiting.push(...payins);
    }
    this.#timer = null;
    this.#schedule();
  }
}
