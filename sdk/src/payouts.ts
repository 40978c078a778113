import type { CallOptions } from './call-options.ts';
import { PayoutsOperations } from './generated/payouts.ts';
import type { ListPayoutsQuery } from './generated/queries.ts';
import type { Payout, PayoutStatus, PayoutWithAnomalies } from './generated/schemas.ts';
import type { List } from './list.ts';
import { type WaitOptions, waitForFinal } from './wait-for.ts';

const FINAL = ['CONFIRMED', 'DECLINED', 'CANCELED'] as const satisfies readonly PayoutStatus[];

export class Payouts extends PayoutsOperations {
  /** Lists payouts, newest first. With `keyString` it sends `POST /payouts/search`, so that the key is in no URL. */
  override list(query: ListPayoutsQuery = {}, options: CallOptions = {}): List<Payout> {
    return query.keyString === undefined ? super.list(query, options) : this.search(query, options);
  }

  /**
   * Polls the payout until it is `CONFIRMED`, `DECLINED` or `CANCELED`. For tests and scripts; in production
   * wait for the event.
   * @throws TimeoutError on timeout: the money may still arrive
   */
  async waitFor(
    id: string,
    options: WaitOptions = {},
  ): Promise<PayoutWithAnomalies & { status: (typeof FINAL)[number] }> {
    const payout = await waitForFinal('payouts', id, FINAL, (...read) => this.get(...read), options);
    return payout as PayoutWithAnomalies & { status: (typeof FINAL)[number] };
  }
}
