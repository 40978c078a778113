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
  /** Null for a return, which the operator organization makes. */
  readonly customer: Customer | null;
  /** The receiver's Bre-B key. */
  readonly brebKey: string;
  /** Identifies the order at the network. */
  readonly endToEndId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly resultAt: Date | null;
}

/** The payout as its creation returned it: the response to a repeated request, never a later state. */
export function asCreated(payout: Payout): Payout {
  const { id, organizationId, amount, reference, customer, brebKey, endToEndId, createdAt } = payout;
  // Without a spread, so that a new field is a compile error here.
  return {
    id,
    organizationId,
    amount,
    reference,
    customer,
    brebKey,
    endToEndId,
    createdAt,
    status: 'PROCESSING',
    errorCode: null,
    updatedAt: createdAt,
    resultAt: null,
  };
}
