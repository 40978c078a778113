import type { RowId } from '../../db/columns.ts';
import { toWriteError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { errorFields } from '../../kit/log.ts';
import { closeEarly } from '../../payins/payin-closing.store.ts';
import { pollSoon } from '../../payins/payin-page.store.ts';
import type { CheckoutState } from './load-checkout.ts';

/** Repeated page loads do not poll the rail each time. */
const MIN_POLL_INTERVAL_MS = 5000;
const MAX_REMEMBERED = 10_000;

/** Expedites work that a payer is waiting for on a checkout page. */
export class PaymentExpediter {
  readonly #deps: Deps;
  readonly #polledAt = new Map<string, number>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Makes the poll due when the payer returns from the bank. Never fails: the regular poll happens anyway. */
  async pollNow({ shop, attempt }: CheckoutState): Promise<void> {
    if (!attempt || attempt.payin.source.rail !== 'PSE' || attempt.payin.status !== 'PROCESSING') return;
    const { id, organizationId } = attempt.payin;
    const last = this.#polledAt.get(id);
    if (last !== undefined && monotonicMs() - last < MIN_POLL_INTERVAL_MS) return;
    if (this.#polledAt.size >= MAX_REMEMBERED) this.#polledAt.clear();
    this.#polledAt.set(id, monotonicMs());
    await this.#deps.batch
      .write('expedite payment', new Set([shop.organization.id]), (tx) =>
        pollSoon(tx, { organizationId, id }),
      )
      .then(() => this.#deps.signals.raise('pse_polling'))
      .catch((error: unknown) =>
        this.#deps.log.warn(
          { ...errorFields(error), code: 'expedite_poll_failed', payinId: id },
          'failed to expedite the status poll of a payin',
        ),
      );
  }

  /**
   * Closes the Bre-B key at the network because the payer wants another method. The link accepts a new attempt once the
   * network confirms.
   * @throws ApiError `outcome_unknown`, `service_unavailable`
   */
  async abandonAttempt({ id, organizationId }: RowId): Promise<void> {
    await this.#deps.batch
      .write('expedite payment', new Set([organizationId]), (tx) => closeEarly(tx, { organizationId, id }))
      .catch((error: unknown) => Promise.reject(toWriteError(error)));
    this.#deps.signals.raise('breb_polling', 'pse_polling');
  }
}
