import type { Deps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { type LeasedPayin, releaseLeases } from '../../payins/payin-claim.store.ts';
import type { CreatePayin } from '../payins/create-payins.ts';

const EVERY_MS = 500;
/** By then the claim has ended by itself. */
const KEPT_FOR_MS = 20_000;
const MOST = 10_000;

/**
 * A creation whose commit is not known may exist, claimed by this process, which will never work on it: it does not
 * know. Its claim is given up, so that a worker brings the bank page or registers the key at once instead of after
 * twenty seconds; the merchant who repeats the request is waiting for it.
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
    if (this.#waiting.length >= MOST) return;
    const key = source.rail === 'BRE_B' ? source.key : null;
    this.#waiting.push({ id, leaseToken, organizationId: organization.id, key, since: monotonicMs() });
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
