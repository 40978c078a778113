import type { Customer } from '../customers/customer.ts';
import type { Cents } from '../kit/money.ts';
import type { RailErrorCode } from '../rails/contract.ts';
import type { PayoutStatus } from './payout.states.ts';

export interface Payout {
  readonly id: string;
  readonly organizationId: string;
  readonly amount: Cents;
  readonly status: PayoutStatus;
  readonly errorCode: RailErrorCode | null;
  readonly reference: string;
  /** Null for a return, which the house makes. */
  readonly customer: Customer | null;
  /** The receiver's key. */
  readonly key: string;
  /** Under which it is ordered at the network. */
  readonly endToEndId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly resultAt: Date | null;
}

/** The payout as the creation answered it: what a repeat of the request gets, never a later state. */
export function asCreated(payout: Payout): Payout {
  const { id, organizationId, amount, reference, customer, key, endToEndId, createdAt } = payout;
  // Member by member: a field that is added later must be thought about here.
  return {
    id,
    organizationId,
    amount,
    reference,
    customer,
    key,
    endToEndId,
    createdAt,
    status: 'PROCESSING',
    errorCode: null,
    updatedAt: createdAt,
    resultAt: null,
  };
}
