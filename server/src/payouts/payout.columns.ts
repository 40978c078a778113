import type { Customer } from '../customers/customer.ts';
import { bytes, encrypted, money, nullable, text, time, uuid } from '../db/columns.ts';
import type { RailErrorCode } from '../rails/contract.ts';
import type { PayoutStatus } from './payout.states.ts';

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
};

/** Null until the payout has a result. A replayed creation returns null. */
export const RESULT_COLUMNS = {
  error_code: nullable(text<RailErrorCode>()),
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
