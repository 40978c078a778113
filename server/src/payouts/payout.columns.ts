import type { Customer } from '../customers/customer.ts';
import { bytes, encrypted, money, nullable, text, time, uuid } from '../db/columns.ts';
import { ERROR_CODES, type Rail } from '../rails/contract.ts';
import type { PayoutStatus } from './payout.states.ts';

/** Payouts are sent over one rail. */
export const PAYOUT_RAIL: Rail = 'BRE_B';

/** Why the service declines a payout on creation, without sending it. */
export type PayoutRefusal = 'INSUFFICIENT_FUNDS' | 'ORGANIZATION_LIMIT_EXCEEDED';

export const PAYOUT_ERROR_CODES = [...ERROR_CODES, 'ORGANIZATION_LIMIT_EXCEEDED'] as const;
export type PayoutErrorCode = (typeof PAYOUT_ERROR_CODES)[number];

/** Set when the payout is created. A replayed creation returns them again. */
export const CREATED_COLUMNS = {
  organization_id: uuid,
  id: uuid,
  amount_in_cents: money,
  reference: text(),
  /** Null for a return, which the operator organization makes. */
  customer: encrypted<Customer>(),
  metadata: encrypted<Readonly<Record<string, string>>>(),
  /** Identifies the order at the network. */
  end_to_end_id: text(),
  /** The trace of the request that created it; null when the request was not sampled. */
  trace_context: nullable(bytes),
};

/** Null until the payout has a result. A replayed creation returns null. */
export const RESULT_COLUMNS = {
  error_code: nullable(text<PayoutErrorCode>()),
  result_at: nullable(time),
};

export const FIELD_COLUMNS = {
  ...CREATED_COLUMNS,
  status: text<PayoutStatus>(),
  created_at: time,
  updated_at: time,
  ...RESULT_COLUMNS,
};

/** All columns of a payout that become part of its object. */
export const PAYOUT_COLUMNS = { ...FIELD_COLUMNS, receiver: bytes };
