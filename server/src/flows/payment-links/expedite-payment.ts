import { writeFailure } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { errorFields } from '../../kit/log.ts';
import { closeEarly } from '../../payins/payin-closing.store.ts';
import { askSoon } from '../../payins/payin-page.store.ts';
import type { CheckoutState } from './load-checkout.ts';

/** A page that is loaded again and again does not have a bank asked each time. */
const ASK_EVERY_MS = 5000;
const MOST_REMEMBERED = 10_000;

/** What payers on their pages cannot wait for. */
export class PaymentExpediter {
  readonly #deps: Deps;
  readonly #asked = new Map<string, number>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The payer came back from the bank: the rail is asked at once. Never fails: it would have been asked anyway. */
  async ask({ shop, attempt }: CheckoutState): Promise<void> {
    if (!attempt || attempt.payin.source.rail !== 'PSE' || attempt.payin.status !== 'PROCESSING') return;
    const { id, organizationId } = attempt.payin;
    const last = this.#asked.get(id);
    if (last !== undefined && monotonicMs() - last < ASK_EVERY_MS) return;
    if (this.#asked.size >= MOST_REMEMBERED) this.#asked.clear();
    this.#asked.set(id, monotonicMs());
    await this.#deps.batch
      .write('expedite payment', new Set([shop.organization.id]), (tx) => askSoon(tx, { organizationId, id }))
      .then(() => this.#deps.signals.raise('pse_polling'))
      .catch((error: unknown) =>
        this.#deps.log.warn(errorFields(error), 'a bank could not be asked at once'),
      );
  }

  /**
   * The payer wants another method: the key is closed at the network, and once that is sure the link is free.
   * @throws Fault `outcome_unknown`, `service_unavailable`
   */
  async giveUp({ shop, attempt }: CheckoutState): Promise<void> {
    if (!attempt) return;
    const { id, organizationId } = attempt.payin;
    await this.#deps.batch
      .write('expedite payment', new Set([shop.organization.id]), (tx) =>
        closeEarly(tx, { organizationId, id }),
      )
      .catch((error: unknown) => Promise.reject(writeFailure(error)));
    this.#deps.signals.raise('breb_polling', 'pse_polling');
  }
}
