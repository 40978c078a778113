import type { Customer } from '../customers/customer.ts';
import type { Cents } from '../kit/money.ts';
import type { Rail } from '../rails/contract.ts';
import type { LinkStatus } from './payment-link.states.ts';

/** A hosted page where a payer pays one amount, with a method of their choice unless the merchant fixed it. */
export interface PaymentLink {
  readonly id: string;
  readonly organizationId: string;
  readonly amount: Cents;
  readonly reference: string;
  readonly description: string | null;
  readonly callbackUrl: string;
  /** The only rail; null if the payer chooses. */
  readonly rail: Rail | null;
  /** Preselected PSE bank. */
  readonly bank: string | null;
  readonly customer: Customer | null;
  readonly status: LinkStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  /** No attempt can start after this time. */
  readonly closesAt: Date;
  /** The open attempt. */
  readonly openPayinId: string | null;
  readonly completedAt: Date | null;
  /** The attempt that completed the link. */
  readonly payinId: string | null;
}

/** The link as returned at creation: the response to an idempotent replay. */
export function asCreated(link: PaymentLink): PaymentLink {
  return {
    ...link,
    status: 'PENDING',
    updatedAt: link.createdAt,
    closesAt: link.expiresAt,
    openPayinId: null,
    completedAt: null,
    payinId: null,
  };
}
