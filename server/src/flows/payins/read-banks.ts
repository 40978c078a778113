import type { Deps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { errorFields } from '../../kit/log.ts';
import type { Principal } from '../../organizations/organization.ts';
import { newestBanks } from '../../payins/pse-bank.store.ts';

/** The list changes once a day, but checkout pages read it constantly. */
const CACHE_MS = 30_000;

/** Caches the banks that PSE offers. The list is the same for every organization. */
export class BankList {
  readonly #deps: Pick<Deps, 'read' | 'log'>;
  readonly #nowMs: () => number;
  #offered: ReadonlySet<string> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<ReadonlySet<string>> | null = null;

  /** @param nowMs a monotonic clock */
  constructor(deps: Pick<Deps, 'read' | 'log'>, nowMs = monotonicMs) {
    this.#deps = deps;
    this.#nowMs = nowMs;
  }

  /**
   * @returns whether PSE offers the bank of a network code; true for every bank until the first list is saved
   * @throws ApiError `service_unavailable` when the database is unavailable and this process has never read the list
   */
  async offered({
    organization,
  }: Pick<Principal, 'organization'>): Promise<(networkCode: string) => boolean> {
    const offered = await this.#cached({ organization });
    return (networkCode) => offered.size === 0 || offered.has(networkCode);
  }

  async #cached({ organization }: Pick<Principal, 'organization'>): Promise<ReadonlySet<string>> {
    if (this.#offered && this.#nowMs() - this.#readAt < CACHE_MS) return this.#offered;
    try {
      // Concurrent callers share one read.
      this.#reading ??= this.#read({ organization }).finally(() => {
        this.#reading = null;
      });
      return await this.#reading;
    } catch (error) {
      if (!this.#offered) throw error;
      // A stale list is better than none.
      this.#deps.log.warn(
        { ...errorFields(error), code: 'bank_list_read_failed' },
        'failed to read bank list; serving the cached one',
      );
      return this.#offered;
    }
  }

  async #read({ organization }: Pick<Principal, 'organization'>): Promise<ReadonlySet<string>> {
    const offered = await this.#deps.read.read(organization.id, (tx) => newestBanks(tx));
    this.#offered = offered;
    this.#readAt = this.#nowMs();
    return offered;
  }
}
