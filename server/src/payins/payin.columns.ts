import type { Customer } from '../customers/customer.ts';
import { bytes, encrypted, money, nullable, text, time, uuid } from '../db/columns.ts';
import { ERROR_CODES, type Rail } from '../rails/contract.ts';
import type { PayinStatus } from './payin.states.ts';

export const KEY_TYPES = ['SINGLE_USE', 'QR_CODE'] as const;
export const PERSON_TYPES = ['INDIVIDUAL', 'BUSINESS'] as const;
export const SETTLEMENT_STATUSES = ['PENDING_SETTLEMENT', 'SETTLED', 'REVERSED'] as const;

/** The rails' codes, and the one this service sets: the payer paid less than requested. */
export const PAYIN_ERROR_CODES = [...ERROR_CODES, 'UNDERPAID'] as const;

/** Set when the payin is created. A replayed creation returns them again. */
export const CREATED_COLUMNS = {
  organization_id: uuid,
  id: uuid,
  amount_in_cents: money,
  reference: text(),
  payment_link_id: nullable(uuid),
  customer: encrypted<Customer>(),
  metadata: encrypted<Readonly<Record<string, string>>>(),
  callback_url: nullable(text()),
  /** The trace of the request that created it; null when the request was not sampled. */
  trace_context: nullable(bytes),
};

/** Null until the payin has a result. A replayed creation returns null. */
export const RESULT_COLUMNS = {
  confirmed_amount_in_cents: nullable(money),
  settlement_status: nullable(text<(typeof SETTLEMENT_STATUSES)[number]>()),
  error_code: nullable(text<(typeof PAYIN_ERROR_CODES)[number]>()),
  /** Bre-B: the network's id of the deciding payment. */
  end_to_end_id: nullable(text()),
  result_at: nullable(time),
  chargeback_at: nullable(time),
};

/** Set by the database when the payin is created and at each transition. */
const STATE_COLUMNS = {
  status: text<PayinStatus>(),
  created_at: time,
  updated_at: time,
  expires_at: time,
};

export const FIELD_COLUMNS = { ...CREATED_COLUMNS, ...STATE_COLUMNS, ...RESULT_COLUMNS };

/** The rail-specific columns that are set when the payin is created. */
export const CREATED_SOURCE_COLUMNS = {
  rail: text<Rail>(),
  breb_key_type: nullable(text<(typeof KEY_TYPES)[number]>()),
  breb_key: nullable(text()),
  pse_bank: nullable(text()),
  pse_person_type: nullable(text<(typeof PERSON_TYPES)[number]>()),
};

/** All columns of a payin that become part of its object. */
export const PAYIN_COLUMNS = {
  ...FIELD_COLUMNS,
  ...CREATED_SOURCE_COLUMNS,
  pse_url: nullable(text()),
  pse_url_at: nullable(time),
  pse_cus: nullable(text()),
};
