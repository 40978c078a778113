import { openCustomer } from '../customers/customer.seal.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { type Cents, cents } from '../kit/money.ts';
import type { Rail } from '../rails/contract.ts';
import type { LinkStatus } from './payment-link.states.ts';
import type { PaymentLink } from './payment-link.ts';

/** A link about to be written. Its times are the database's. */
export interface NewLink {
  readonly organizationId: string;
  readonly id: string;
  readonly amount: Cents;
  readonly reference: string;
  readonly description: string | null;
  readonly callbackUrl: string;
  readonly rail: Rail | null;
  readonly bank: string | null;
  readonly sealedCustomer: Buffer | null;
}

const LIFETIME = "interval '1 hour'";

export const LINK_COLUMNS = `l.organization_id, l.id, l.amount_in_cents, l.reference, l.description, l.callback_url, l.rail, l.pse_bank, l.customer,
  l.status, l.created_at, l.updated_at, l.expires_at, l.shuts_at, l.open_payin_id, l.completed_at, l.payin_id`;

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
  shuts_at: Date;
  open_payin_id: string | null;
  completed_at: Date | null;
  payin_id: string | null;
}

const INSERT = statement(
  'payment-link.insert',
  `with moment as materialized (select caudal.now() as at)
   insert into caudal.payment_links as l (organization_id, id, amount_in_cents, currency, reference, description, callback_url, rail, pse_bank,
     customer, status, created_at, updated_at, expires_at, shuts_at)
   select organization_id, id, amount, 'COP', reference, description, callback_url, rail, bank, customer, 'PENDING', at, at,
     at + ${LIFETIME}, at + ${LIFETIME}
   from moment, unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[])
     as new (organization_id, id, amount, reference, description, callback_url, rail, bank, customer)
   returning ${LINK_COLUMNS}`,
);

/** @returns them as written, in no order */
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
    links.map((link) => link.sealedCustomer),
  ]);
}

const FIND = statement(
  'payment-link.find',
  `select ${LINK_COLUMNS}, caudal.now() as now from caudal.payment_links l
   join unnest($1::uuid[], $2::uuid[]) as wanted (organization_id, id) on l.organization_id = wanted.organization_id and l.id = wanted.id`,
);

/** Rows, not links: the customer is opened by whoever holds the organization's key. */
export async function findLinks(
  tx: Tx,
  wanted: readonly { readonly organizationId: string; readonly id: string }[],
): Promise<(LinkRow & { readonly now: Date })[]> {
  if (wanted.length === 0) return [];
  return tx.query<LinkRow & { now: Date }>(FIND, [
    wanted.map((each) => each.organizationId),
    wanted.map((each) => each.id),
  ]);
}

export function linkOf(row: LinkRow, dataKey: SecretKey): PaymentLink {
  const { organization_id: organizationId, id } = row;
  return {
    ...linkWithoutCustomer(row),
    customer: openCustomer(dataKey, row.customer, { table: 'payment_links', organizationId, id }),
  };
}

/** For whoever needs no customer: it stays encrypted. */
export function linkWithoutCustomer(row: LinkRow): PaymentLink {
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
    shutsAt: row.shuts_at,
    openPayinId: row.open_payin_id,
    completedAt: row.completed_at,
    payinId: row.payin_id,
  };
}
