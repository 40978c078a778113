import type { Customer } from '../customers/customer.ts';
import type { Cents } from '../kit/money.ts';
import { ERROR_CODES } from '../rails/contract.ts';
import { FIRST_STATUS, type PayinStatus } from './payin.states.ts';

export const KEY_TYPES = ['SINGLE_USE', 'QR_CODE'] as const;
export const PERSON_TYPES = ['INDIVIDUAL', 'BUSINESS'] as const;
export const SETTLEMENT_STATUSES = ['PENDING_SETTLEMENT', 'SETTLED', 'REVERSED'] as const;

/** The rails' codes, and the one this service sets: the payer paid less than requested. */
export const PAYIN_ERROR_CODES = [...ERROR_CODES, 'UNDERPAID'] as const;
export type PayinErrorCode = (typeof PAYIN_ERROR_CODES)[number];

/** The rail-specific data of a payin. */
export type PayinSource =
  | { readonly rail: 'BRE_B'; readonly keyType: (typeof KEY_TYPES)[number]; readonly key: string }
  | {
      readonly rail: 'PSE';
      readonly bank: string;
      readonly personType: (typeof PERSON_TYPES)[number];
      /** The bank page once known, the time it became known, and PSE's trace number (CUS) of the transaction. */
      readonly page: { readonly url: string; readonly at: Date; readonly cus: string | null } | null;
    };

export interface Payin {
  readonly id: string;
  readonly organizationId: string;
  readonly amount: Cents;
  readonly confirmedAmount: Cents | null;
  readonly status: PayinStatus;
  readonly settlementStatus: (typeof SETTLEMENT_STATUSES)[number] | null;
  readonly errorCode: PayinErrorCode | null;
  readonly reference: string;
  readonly paymentLinkId: string | null;
  readonly customer: Customer | null;
  readonly callbackUrl: string | null;
  readonly source: PayinSource;
  /** Bre-B: the network's id of the deciding payment. */
  readonly endToEndId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly resultAt: Date | null;
  readonly chargebackAt: Date | null;
}

/**
 * The payin as returned by its creation, for a replayed request. It includes the bank page as soon as that is known, but
 * never a later state.
 */
export function asCreated(payin: Payin): Payin {
  const {
    id,
    organizationId,
    amount,
    reference,
    paymentLinkId,
    customer,
    callbackUrl,
    source,
    createdAt,
    expiresAt,
  } = payin;
  const page = source.rail === 'PSE' ? source.page : null;
  // Lists every field instead of spreading: a new field must be considered here, or a replay could show a later state.
  return {
    id,
    organizationId,
    amount,
    reference,
    paymentLinkId,
    customer,
    callbackUrl,
    source,
    createdAt,
    expiresAt,
    status: page ? 'PROCESSING' : FIRST_STATUS[source.rail],
    confirmedAmount: null,
    endToEndId: null,
    settlementStatus: null,
    errorCode: null,
    resultAt: null,
    chargebackAt: null,
    updatedAt: page?.at ?? createdAt,
  };
}
