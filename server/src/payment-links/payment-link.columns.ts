import type { Customer } from '../customers/customer.ts';
import { bytes, encrypted, money, nullable, text, time, uuid } from '../db/columns.ts';
import type { Rail } from '../rails/contract.ts';
import type { LinkStatus } from './payment-link.states.ts';

/** Set when the link is created. A replayed creation returns them again. */
export const CREATED_COLUMNS = {
  organization_id: uuid,
  id: uuid,
  amount_in_cents: money,
  reference: text(),
  description: nullable(text()),
  callback_url: text(),
  /** The only rail; null if the payer chooses. */
  rail: nullable(text<Rail>()),
  /** Preselected PSE bank. */
  pse_bank: nullable(text()),
  customer: encrypted<Customer>(),
  metadata: encrypted<Readonly<Record<string, string>>>(),
  /** The trace of the request that created it; null when the request was not sampled. */
  trace_context: nullable(bytes),
};

/** Null until an attempt to pay the link sets them. A replayed creation returns null. */
export const ATTEMPT_COLUMNS = {
  open_breb_payin_id: nullable(uuid),
  open_pse_payin_id: nullable(uuid),
  completed_at: nullable(time),
  /** The attempt that completed the link. */
  payin_id: nullable(uuid),
};

/** All columns of a payment link that become part of its object. */
export const LINK_COLUMNS = {
  ...CREATED_COLUMNS,
  status: text<LinkStatus>(),
  created_at: time,
  updated_at: time,
  expires_at: time,
  /** No attempt can start after this time. */
  closes_at: time,
  /** Received by the attempts, up to the amount. */
  paid_in_cents: money,
  ...ATTEMPT_COLUMNS,
};
