import { decryptCustomer } from '../customers/customer.encryption.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { type Cents, cents } from '../kit/money.ts';
import type { Rail } from '../rails/contract.ts';
import type { LinkStatus } from './payment-link.states.ts';
import type { PaymentLink } from './payment-link.ts';

/** A link to insert. The database sets its times. */
export interface NewLink {
  readonly organizationId: string;
  readonly id: string;
  readonly amount: Cents;
  readonly reference: string;
  readonly description: string | null;
  readonly callbackUrl: string;
  readonly rail: Rail | null;
  readonly bank: string | null;
  readonly encryptedCustomer: Buffer | null;
}

const LIFETIME = "interval '1 hour'";

export const LINK_COLUMNS = `l.organization_id, l.id, l.amount_in_cents, l.reference, l.description, l.callback_url, l.rail, l.pse_bank, l.customer,
  l.status, l.created_at, l.updated_at, l.expires_at, l.closes_at, l.open_payin_id, l.completed_at, l.payin_id`;

export interface LinkRow {
  organization_id: string;
  id: string;
  amount_in_cents: bigint;
  reference: string;
  description: string | null;
  callback_url: string;
  rail: Rail | null;
  pse_bank: string | null;
  customer: Buffer | null;
  status: LinkStatus;
  created_at: Date;
  updated_at: Date;
  expires_at: Date;
  closes_at: Date;
  open_payin_id: string | null;
  completed_at: Date | null;
  payin_id: string | null;
}

const INSERT = statement(
  'payment-link.insert',
  `with moment as materialized (select caudal.now() as at)
   insert into caudal.payment_links as l (organization_id, id, amount_in_cents, currency, reference, description, callback_url, rail, pse_bank,
     customer, status, created_at, updated_at, expires_at, closes_at)
   select organization_id, id, amount, 'COP', reference, description, callback_url, rail, bank, customer, 'PENDING', at, at,
     at + ${LIFETIME}, at + ${LIFETIME}
   from moment, unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[])
     as new (organization_id, id, amount, reference, description, callback_url, rail, bank, customer)
   returning ${LINK_COLUMNS}`,
);

/** @returns the inserted rows, in no particular order */
export async function insertLinks(tx: Tx, links: readonly NewLink[]): Promise<LinkRow[]> {
  return tx.query<LinkRow>(INSERT, [
    links.map((link) => link.organizationId),
    links.map((link) => link.id),
    links.map((link) => link.amount),
    links.map((link) => link.reference),
    links.map((link) => link.description),
    links.map((link) => link.callbackUrl),
    links.map((link) => link.rail),
    links.map((link) => link.bank),
    links.map((link) => link.encryptedCustomer),
  ]);
}

const FIND = statement(
  'payment-link.find',
  `select ${LINK_COLUMNS}, caudal.now() as now from caudal.payment_links l
   join unnest($1::uuid[], $2::uuid[]) as wanted (organization_id, id) on l.organization_id = wanted.organization_id and l.id = wanted.id`,
);

/** Returns rows: decrypting the customer needs the organization's data key, which the caller has. */
export async function findLinks(
  tx: Tx,
  ids: readonly { readonly organizationId: string; readonly id: string }[],
): Promise<(LinkRow & { readonly now: Date })[]> {
  if (ids.length === 0) return [];
  return tx.query<LinkRow & { now: Date }>(FIND, [
    ids.map((each) => each.organizationId),
    ids.map((each) => each.id),
  ]);
}

export function linkFromRow(row: LinkRow, dataKey: SecretKey): PaymentLink {
  const { organization_id: organizationId, id } = row;
  return {
    ...linkFromRowWithoutCustomer(row),
    customer: decryptCustomer(dataKey, row.customer, { table: 'payment_links', organizationId, id }),
  };
}

/** For callers that do not need the customer: it is not decrypted. */
export function linkFromRowWithoutCustomer(row: LinkRow): PaymentLink {
  return {
    id: row.id,
    organizationId: row.organization_id,
    amount: cents(row.amount_in_cents),
    reference: row.reference,
    description: row.description,
    callbackUrl: row.callback_url,
    rail: row.rail,
    bank: row.pse_bank,
    customer: null,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    closesAt: row.closes_at,
    openPayinId: row.open_payin_id,
    completedAt: row.completed_at,
    payinId: row.payin_id,
  };
}
