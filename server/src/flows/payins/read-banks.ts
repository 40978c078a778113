import type { Deps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { errorFields } from '../../kit/log.ts';
import type { Principal } from '../../organizations/organization.ts';
import { newestBanks } from '../../payins/pse-bank.store.ts';

/** A list changes once a day; a page full of payers asks for it all the time. */
const KNOWN_FOR_MS = 30_000;

/** Which banks PSE offers, as this process last read it. The same for every organization. */
export class BankList {
  readonly #deps: Pick<Deps, 'read' | 'log'>;
  readonly #nowMs: () => number;
  #offered: ReadonlySet<string> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<ReadonlySet<string>> | null = null;

  /** @param nowMs a clock that only goes forward */
  constructor(deps: Pick<Deps, 'read' | 'log'>, nowMs = monotonicMs) {
    this.#deps = deps;
    this.#nowMs = nowMs;
  }

  /**
   * @returns whether PSE offers the bank of a network code; every bank, until PSE has been asked for the first time
   * @throws Fault `service_unavailable` when the database is away and this process has never read the list
   */
  async offered({
    organization,
  }: Pick<Principal, 'organization'>): Promise<(networkCode: string) => boolean> {
    const offered = await this.#known({ organization });
    return (networkCode) => offered.size === 0 || offered.has(networkCode);
  }

  async #known({ organization }: Pick<Principal, 'organization'>): Promise<ReadonlySet<string>> {
    if (this.#offered && this.#nowMs() - this.#readAt < KNOWN_FOR_MS) return this.#offered;
    try {
      // One read for all who wait for it.
      this.#reading ??= this.#read({ organization }).finally(() => {
        this.#reading = null;
      });
      return await this.#reading;
    } catch (error) {
      if (!this.#offered) throw error;
      // What was true half a minute ago is a better answer than none.
      this.#deps.log.warn(errorFields(error), 'the bank list could not be read; the last one is shown');
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
