import type { Deps } from '../deps.ts';
import { errorFields } from '../kit/log.ts';
import { releaseClaims } from '../payins/payin-claim.store.ts';
import type { CreatePayin } from './create-payins.ts';

/** After each of these a try; the claim ends by itself after twenty seconds. */
const TRIES_AFTER_MS = [250, 1000, 4000];

/**
 * A creation whose commit is not known may exist, claimed by this process, which will never work on it: it does not
 * know. Its claim is given up, so that a worker brings the bank page or registers the key at once instead of after
 * twenty seconds; the merchant who repeats the request is waiting for it.
 */
export class UncertainCreations {
  readonly #deps: Deps;
  #waiting: CreatePayin[] = [];
  #timer: NodeJS.Timeout | null = null;
  #tries = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  add(command: CreatePayin): void {
    this.#waiting.push(command);
    this.#tries = 0;
    this.#schedule();
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#waiting = [];
  }

  #schedule(): void {
    const wait = TRIES_AFTER_MS[this.#tries];
    if (this.#timer !== null || this.#waiting.length === 0) return;
    if (wait === undefined) {
      this.#waiting = [];
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#release();
    }, wait);
  }

  async #release(): Promise<void> {
    const commands = this.#waiting.splice(0);
    const organizations = new Set(commands.map((command) => command.organization.id));
    const payins = commands.map(({ id, organization, source }) => ({
      organizationId: organization.id,
      id,
      key: source.rail === 'BRE_B' ? source.key : null,
    }));
    try {
      await this.#deps.batch.write(organizations, (tx) => releaseClaims(tx, this.#deps.claimToken, payins));
    } catch (error) {
      this.#deps.log.warn(errorFields(error), 'claims of uncertain creations could not be given up');
      this.#waiting.push(...commands);
      this.#tries += 1;
      this.#schedule();
    }
  }
}
