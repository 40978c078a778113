import { PaymentLinksOperations } from './generated/payment-links.ts';
import type { PaymentLinkStatus, PaymentLinkWithDetails } from './generated/schemas.ts';
import { type WaitOptions, waitForFinal } from './wait-for.ts';

const FINAL = ['COMPLETED', 'EXPIRED'] as const satisfies readonly PaymentLinkStatus[];

export class PaymentLinks extends PaymentLinksOperations {
  /**
   * Polls the link until it is `COMPLETED` or `EXPIRED`. For tests and scripts; in production wait for the event.
   * @throws TimeoutError on timeout: the link may still be paid
   */
  async waitFor(
    id: string,
    options: WaitOptions = {},
  ): Promise<PaymentLinkWithDetails & { status: (typeof FINAL)[number] }> {
    const link = await waitForFinal('paymentLinks', id, FINAL, (...read) => this.get(...read), options);
    return link as PaymentLinkWithDetails & { status: (typeof FINAL)[number] };
  }
}
