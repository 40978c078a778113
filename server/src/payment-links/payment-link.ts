import type { Customer } from '../customers/customer.ts';
import type { Cents } from '../kit/money.ts';
import type { Rail } from '../rails/contract.ts';
import type { LinkStatus } from './payment-link.states.ts';

/** A page on which a payer pays one amount, by the method of their choice unless the merchant chose it. */
export interface PaymentLink {
  readonly id: string;
  readonly organizationId: string;
  readonly amount: Cents;
  readonly reference: string;
  readonly description: string | null;
  readonly callbackUrl: string;
  /** The only rail; null leaves the choice. */
  readonly rail: Rail | null;
  /** Preselected. */
  readonly bank: string | null;
  readonly customer: Customer | null;
  readonly status: LinkStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  /** From then on no attempt is begun. */
  readonly shutsAt: Date;
  /** The attempt under way. */
  readonly openPayinId: string | null;
  readonly completedAt: Date | null;
  /** The attempt that completed it. */
  readonly payinId: string | null;
}

/** The link as its creation answered it: what a repeat of the request gets. */
export function asCreated(link: PaymentLink): PaymentLink {
  return {
    ...link,
    status: 'PENDING',
    updatedAt: link.createdAt,
    shutsAt: link.expiresAt,
    openPayinId: null,
    completedAt: null,
    payinId: null,
  };
}
