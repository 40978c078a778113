import { decryptCustomer } from '../customers/customer.encryption.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { type Cents, cents } from '../kit/money.ts';
import { FIRST_POLL_SECONDS } from './payin.polling.ts';
import { NO_STATUS } from './payin.states.ts';
import type { Payin, PayinSource } from './payin.ts';

/** A payin to insert. The database sets its times. */
export interface NewPayin {
  readonly id: string;
  readonly leaseToken: string;
  readonly organizationId: string;
  readonly amount: Cents;
  readonly status: 'PENDING' | 'PROCESSING';
  readonly reference: string;
  readonly encryptedCustomer: Buffer | null;
  readonly callbackUrl: string | null;
  readonly source: PayinSource;
  /** Needs a rail call before it can be paid; the creating process holds the lease. */
  readonly railDue: boolean;
  /** The payment link it is an attempt of. */
  readonly paymentLinkId: string | null;
  /** Null: one hour after the creation. */
  readonly expiresAt: Date | null;
}

const LIFETIME = "interval '1 hour'";

/** A Bre-B payin is polled on schedule; a PSE payin without a payer only has to be ended when it expires. */
const FIRST_TASK = "case when rail_due then 'open' when rail = 'BRE_B' then 'poll' else 'close' end";
const FIRST_DUE = `case when rail_due then at when rail = 'BRE_B' then at + interval '${FIRST_POLL_SECONDS.BRE_B} seconds' else coalesce(expires_at, at + ${LIFETIME}) end`;

const INSERT = statement(
  'payin.insert',
  `with moment as materialized (select caudal.now() as at),
   new as (
     select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[],
       $9::text[], $10::text[], $11::text[], $12::text[], $13::boolean[], $14::uuid[], $15::uuid[], $16::timestamptz[])
       as new (organization_id, id, amount, rail, status, reference, customer, callback_url, key_type, key, bank, person_type, rail_due, lease_token,
         payment_link_id, expires_at)
   ),
   history as (
     insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
     select organization_id, id, '${NO_STATUS}', status, 'created', at from new, moment
   ),
   keys as (
     insert into caudal.breb_keys (key, organization_id, payin_id, minted_at, register_due_at, leased_until, lease_token)
     select key, organization_id, id, at, at, clock_timestamp() + ${LEASE_INTERVAL}, lease_token from new, moment where key is not null
   )
   insert into caudal.payins (organization_id, id, amount_in_cents, currency, rail, status, reference, customer, callback_url,
     breb_key_type, breb_key, pse_bank, pse_person_type, payment_link_id, created_at, updated_at, expires_at, rail_task, rail_due_at, rail_sent_at,
     leased_until, lease_token)
   select organization_id, id, amount, 'COP', rail, status, reference, customer, callback_url, key_type, key, bank, person_type,
     payment_link_id, at, at, coalesce(expires_at, at + ${LIFETIME}), ${FIRST_TASK}, ${FIRST_DUE}, case when rail_due then at end,
     case when rail_due then clock_timestamp() + ${LEASE_INTERVAL} end, case when rail_due then lease_token end
   from new, moment
   returning created_at, expires_at`,
);

/** @returns the creation time and the default expiry, which are the same for the whole batch */
export async function insertPayins(
  tx: Tx,
  payins: readonly NewPayin[],
): Promise<{ createdAt: Date; expiresAt: Date }> {
  const [row] = await tx.query<{ created_at: Date; expires_at: Date }>(INSERT, [
    payins.map((payin) => payin.organizationId),
    payins.map((payin) => payin.id),
    payins.map((payin) => payin.amount),
    payins.map((payin) => payin.source.rail),
    payins.map((payin) => payin.status),
    payins.map((payin) => payin.reference),
    payins.map((payin) => payin.encryptedCustomer),
    payins.map((payin) => payin.callbackUrl),
    payins.map(({ source }) => (source.rail === 'BRE_B' ? source.keyType : null)),
    payins.map(({ source }) => (source.rail === 'BRE_B' ? source.key : null)),
    payins.map(({ source }) => (source.rail === 'PSE' ? source.bank : null)),
    payins.map(({ source }) => (source.rail === 'PSE' ? source.personType : null)),
    payins.map((payin) => payin.railDue),
    payins.map((payin) => payin.leaseToken),
    payins.map((payin) => payin.paymentLinkId),
    payins.map((payin) => payin.expiresAt),
  ]);
  if (!row) throw new Error('the insert of payins returned no row');
  return { createdAt: row.created_at, expiresAt: row.expires_at };
}

export const PAYIN_COLUMNS = `p.organization_id, p.id, p.amount_in_cents, p.confirmed_amount_in_cents, p.rail, p.status, p.settlement_status,
  p.error_code, p.reference, p.payment_link_id, p.customer, p.callback_url, p.breb_key_type, p.breb_key, p.pse_bank,
  p.pse_person_type, p.pse_url, p.pse_url_at, p.pse_cus, p.end_to_end_id, p.created_at, p.updated_at, p.expires_at, p.result_at, p.chargeback_at`;

export interface PayinRow {
  organization_id: string;
  id: string;
  amount_in_cents: bigint;
  confirmed_amount_in_cents: bigint | null;
  rail: 'BRE_B' | 'PSE';
  status: Payin['status'];
  settlement_status: Payin['settlementStatus'];
  error_code: Payin['errorCode'];
  reference: string;
  payment_link_id: string | null;
  customer: Buffer | null;
  callback_url: string | null;
  breb_key_type: 'SINGLE_USE' | 'QR_CODE' | null;
  breb_key: string | null;
  pse_bank: string | null;
  pse_person_type: 'INDIVIDUAL' | 'BUSINESS' | null;
  pse_url: string | null;
  pse_url_at: Date | null;
  pse_cus: string | null;
  end_to_end_id: string | null;
  created_at: Date;
  updated_at: Date;
  expires_at: Date;
  result_at: Date | null;
  chargeback_at: Date | null;
}

const FIND = statement(
  'payin.find',
  `select ${PAYIN_COLUMNS} from caudal.payins p
   join unnest($1::uuid[], $2::uuid[]) as wanted (organization_id, id) on p.organization_id = wanted.organization_id and p.id = wanted.id`,
);

const FIND_ONE = statement(
  'payin.find-one',
  `select ${PAYIN_COLUMNS} from caudal.payins p where p.organization_id = $1 and p.id = $2`,
);

/** @returns rows with encrypted customers: the caller decrypts them with the organization's data key */
export async function findPayins(
  tx: Tx,
  wanted: readonly { organizationId: string; id: string }[],
): Promise<PayinRow[]> {
  if (wanted.length === 0) return [];
  return tx.query<PayinRow>(FIND, [wanted.map((each) => each.organizationId), wanted.map((each) => each.id)]);
}

export async function findPayin(tx: Tx, organizationId: string, id: string): Promise<PayinRow | null> {
  const [row] = await tx.query<PayinRow>(FIND_ONE, [organizationId, id]);
  return row ?? null;
}

export function payinFromRow(row: PayinRow, dataKey: SecretKey): Payin {
  return {
    ...payinWithoutCustomer(row),
    customer: decryptCustomer(dataKey, row.customer, {
      table: 'payins',
      organizationId: row.organization_id,
      id: row.id,
    }),
  };
}

/** For callers that do not need the customer: it stays encrypted. */
export function payinWithoutCustomer(row: PayinRow): Payin {
  return {
    id: row.id,
    organizationId: row.organization_id,
    amount: cents(row.amount_in_cents),
    confirmedAmount: row.confirmed_amount_in_cents === null ? null : cents(row.confirmed_amount_in_cents),
    status: row.status,
    settlementStatus: row.settlement_status,
    errorCode: row.error_code,
    reference: row.reference,
    paymentLinkId: row.payment_link_id,
    customer: null,
    callbackUrl: row.callback_url,
    source: sourceFromRow(row),
    endToEndId: row.end_to_end_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    resultAt: row.result_at,
    chargebackAt: row.chargeback_at,
  };
}

function sourceFromRow(row: PayinRow): PayinSource {
  if (row.rail === 'BRE_B' && row.breb_key !== null && row.breb_key_type !== null) {
    return { rail: 'BRE_B', keyType: row.breb_key_type, key: row.breb_key };
  }
  if (row.rail === 'PSE' && row.pse_bank !== null && row.pse_person_type !== null) {
    const page =
      row.pse_url !== null && row.pse_url_at !== null
        ? { url: row.pse_url, at: row.pse_url_at, cus: row.pse_cus }
        : null;
    return { rail: 'PSE', bank: row.pse_bank, personType: row.pse_person_type, page };
  }
  throw new Error(`payin ${row.id} has no data for its rail ${row.rail}`);
}
