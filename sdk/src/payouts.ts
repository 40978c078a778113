import { PayoutsOperations } from './generated/payouts.ts';
import type { PayoutStatus, PayoutWithAnomalies } from './generated/schemas.ts';
import { type WaitOptions, waitForFinal } from './wait-for.ts';

const FINAL = ['CONFIRMED', 'DECLINED', 'CANCELED'] as const satisfies readonly PayoutStatus[];

export class Payouts extends PayoutsOperations {
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
