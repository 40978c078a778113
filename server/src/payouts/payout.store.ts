import { decryptCustomer } from '../customers/customer.encryption.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { type Cents, cents } from '../kit/money.ts';
import { NO_STATUS } from './payout.states.ts';
import type { Payout } from './payout.ts';
import { decryptReceiver } from './receiver.encryption.ts';

/** SQL array of suspended organizations, whose payouts wait. They are few, and PostgreSQL reads them once per statement. */
export const SUSPENDED = 'array(select o.id from caudal.organizations o where o.suspended_at is not null)';

/** The directory's answer to a key lookup. */
export interface Resolved {
  /** Null when it was not a merchant's lookup: there is no token to refund. */
  readonly lookupId: string | null;
  readonly resolutionId: string;
  readonly resolvedAt: Date;
  readonly holder: Buffer;
}

/** A payout to insert. The database sets its times. */
export interface NewPayout {
  readonly id: string;
  readonly organizationId: string;
  readonly amount: Cents;
  readonly reference: string;
  readonly encryptedCustomer: Buffer | null;
  readonly encryptedReceiver: Buffer;
  readonly receiverIndex: Buffer;
  readonly resolved: Resolved | null;
  readonly endToEndId: string;
  /** For a return: the anomaly whose money it returns. */
  readonly anomaly: { readonly id: string; readonly organizationId: string } | null;
  /** Whether the balance covers it and the amount is held. If not, it is declined on creation. */
  readonly covered: boolean;
}

const INSERT = statement(
  'payout.insert',
  `with moment as materialized (select caudal.now() as at),
   new as (
     select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[], $8::text[],
       $9::timestamptz[], $10::bytea[], $11::text[], $12::uuid[], $13::uuid[], $14::boolean[], $15::uuid[])
       as new (organization_id, id, amount, reference, customer, receiver, receiver_index, resolution_id, resolved_at, holder,
         end_to_end_id, anomaly_id, anomaly_organization_id, covered, lookup_id)
   ),
   history as (
     insert into caudal.payout_history (organization_id, payout_id, from_status, to_status, cause, at)
     select organization_id, id, '${NO_STATUS}', 'PROCESSING', 'created', at from new, moment
     union all
     select organization_id, id, 'PROCESSING', 'DECLINED', 'insufficient_balance', at from new, moment where not covered
   )
   insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, status, error_code, reference, customer, receiver,
     receiver_index, lookup_id, resolution_id, resolved_at, holder, end_to_end_id, anomaly_id, anomaly_organization_id, created_at, updated_at,
     result_at, rail_task, rail_due_at)
   select organization_id, id, amount, 'COP', 'BRE_B', case when covered then 'PROCESSING' else 'DECLINED' end,
     case when not covered then 'INSUFFICIENT_FUNDS' end, reference, customer, receiver, receiver_index, lookup_id, resolution_id, resolved_at,
     holder, end_to_end_id, anomaly_id, anomaly_organization_id, at, at, case when not covered then at end,
     case when covered then 'send' end, case when covered then at end
   from new, moment
   returning created_at`,
);

/** @returns the creation time, the same for all of them */
export async function insertPayouts(tx: Tx, payouts: readonly NewPayout[]): Promise<Date> {
  const [row] = await tx.query<{ created_at: Date }>(INSERT, [
    payouts.map((payout) => payout.organizationId),
    payouts.map((payout) => payout.id),
    payouts.map((payout) => payout.amount),
    payouts.map((payout) => payout.reference),
    payouts.map((payout) => payout.encryptedCustomer),
    payouts.map((payout) => payout.encryptedReceiver),
    payouts.map((payout) => payout.receiverIndex),
    payouts.map(({ resolved }) => resolved?.resolutionId ?? null),
    payouts.map(({ resolved }) => resolved?.resolvedAt ?? null),
    payouts.map(({ resolved }) => resolved?.holder ?? null),
    payouts.map((payout) => payout.endToEndId),
    payouts.map(({ anomaly }) => anomaly?.id ?? null),
    payouts.map(({ anomaly }) => anomaly?.organizationId ?? null),
    payouts.map((payout) => payout.covered),
    payouts.map(({ resolved }) => resolved?.lookupId ?? null),
  ]);
  if (!row) throw new Error('no payout was inserted');
  return row.created_at;
}

export const PAYOUT_COLUMNS = `p.organization_id, p.id, p.amount_in_cents, p.status, p.error_code, p.reference, p.customer, p.receiver, p.end_to_end_id,
  p.created_at, p.updated_at, p.result_at`;

export interface PayoutRow {
  organization_id: string;
  id: string;
  amount_in_cents: bigint;
  status: Payout['status'];
  error_code: Payout['errorCode'];
  reference: string;
  customer: Buffer | null;
  receiver: Buffer;
  end_to_end_id: string;
  created_at: Date;
  updated_at: Date;
  result_at: Date | null;
}

const FIND = statement(
  'payout.find',
  `select ${PAYOUT_COLUMNS} from caudal.payouts p
   join unnest($1::uuid[], $2::uuid[]) as wanted (organization_id, id) on p.organization_id = wanted.organization_id and p.id = wanted.id`,
);

export interface PayoutRowId {
  readonly organizationId: string;
  readonly id: string;
}

/** Returns rows, not payouts: the caller, who holds the organization's data key, decrypts customer and receiver. */
export async function findPayouts(tx: Tx, wanted: readonly PayoutRowId[]): Promise<PayoutRow[]> {
  if (wanted.length === 0) return [];
  return tx.query<PayoutRow>(FIND, [
    wanted.map((each) => each.organizationId),
    wanted.map((each) => each.id),
  ]);
}

export function payoutFromRow(row: PayoutRow, dataKey: SecretKey): Payout {
  const { organization_id: organizationId, id } = row;
  return {
    ...payoutWithoutCustomer(row, dataKey),
    customer: decryptCustomer(dataKey, row.customer, { table: 'payouts', organizationId, id }),
  };
}

/** Maps a row without decrypting its customer. */
export function payoutWithoutCustomer(row: PayoutRow, dataKey: SecretKey): Payout {
  return {
    id: row.id,
    organizationId: row.organization_id,
    amount: cents(row.amount_in_cents),
    status: row.status,
    errorCode: row.error_code,
    reference: row.reference,
    customer: null,
    brebKey: decryptReceiver(dataKey, row.receiver, row.organization_id, row.id),
    endToEndId: row.end_to_end_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    resultAt: row.result_at,
  };
}
