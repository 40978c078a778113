import { PayinsOperations } from './generated/payins.ts';
import type { PayinStatus, PayinWithAnomalies } from './generated/schemas.ts';
import { type WaitOptions, waitForFinal } from './wait-for.ts';

const FINAL = ['CONFIRMED', 'DECLINED', 'CANCELED'] as const satisfies readonly PayinStatus[];

export class Payins extends PayinsOperations {
  /**
   * Polls the payin until it is `CONFIRMED`, `DECLINED` or `CANCELED`. For tests and scripts; in production wait for the event.
   * @throws TimeoutError on timeout: the outcome is still open
   */
  async waitFor(
    id: string,
    options: WaitOptions = {},
  ): Promise<PayinWithAnomalies & { status: (typeof FINAL)[number] }> {
    const payin = await waitForFinal('payins', id, FINAL, (...read) => this.get(...read), options);
    return payin as PayinWithAnomalies & { status: (typeof FINAL)[number] };
  }
}
