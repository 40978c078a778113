import { statement, type Tx } from '../db/tx.ts';
import { type Cents, cents } from '../kit/money.ts';

export interface SettlingPayin {
  readonly organizationId: string;
  readonly id: string;
  /** The payin's part of the pending balance: the amount received, for a payment link at most its amount. */
  readonly amount: Cents;
  /** A queried status listed the payment, or an operator released it. Other payins must not settle. */
  readonly verified: boolean;
}

/** The excess over the amount of a payment link does not belong to the merchant. */
const SETTLING = `case when p.payment_link_id is null then p.confirmed_amount_in_cents else least(p.confirmed_amount_in_cents, p.amount_in_cents) end as settling_in_cents`;

const VERIFIED = 'num_nonnulls(p.payment_verified_at, p.settlement_released_at) > 0 as verified';

const LOCK_DUE = statement(
  'payin-settlement.lock-due',
  // Skips payins that a concurrent run has locked; the next run finds those it leaves.
  `select p.organization_id, p.id, ${SETTLING}, ${VERIFIED} from caudal.payins p
   where p.settles_at <= caudal.now() and p.status = 'CONFIRMED' and p.settlement_status = 'PENDING_SETTLEMENT'
   order by p.settles_at limit $1
   for update skip locked`,
);

/** Locks up to `limit` payins that are due to settle, oldest first, until the transaction ends. */
export async function lockSettlingPayins(tx: Tx, limit: number): Promise<SettlingPayin[]> {
  return (await tx.query<SettlingRow>(LOCK_DUE, [limit])).map(settlingPayinFromRow);
}

const RELOCK = statement(
  'payin-settlement.relock',
  `select p.organization_id, p.id, ${SETTLING}, ${VERIFIED} from caudal.payins p
   join unnest($1::uuid[], $2::uuid[]) as w (organization_id, id) on p.organization_id = w.organization_id and p.id = w.id
   where p.settles_at is not null and p.status = 'CONFIRMED' and p.settlement_status = 'PENDING_SETTLEMENT'
   order by p.organization_id, p.id for update of p`,
);

/** Locks those of the payins that are still unsettled. */
export async function relockSettling(tx: Tx, payins: readonly SettlingPayin[]): Promise<SettlingPayin[]> {
  const rows = await tx.query<SettlingRow>(RELOCK, [
    payins.map((payin) => payin.organizationId),
    payins.map((payin) => payin.id),
  ]);
  return rows.map(settlingPayinFromRow);
}

const POSTPONE = statement(
  'payin-settlement.postpone',
  `update caudal.payins p set settles_at = caudal.now() + interval '1 hour'
   from unnest($1::uuid[], $2::uuid[]) as w (organization_id, id)
   where p.organization_id = w.organization_id and p.id = w.id and p.settles_at is not null`,
);

/** Retries in an hour, so that these payins do not block the others. */
export async function postponeSettling(tx: Tx, payins: readonly SettlingPayin[]): Promise<void> {
  await tx.query(POSTPONE, [payins.map((payin) => payin.organizationId), payins.map((payin) => payin.id)]);
}

const QUERY_FIRST = statement(
  'payin-settlement.query-first',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set settles_at = null, rail_task = 'poll', rail_due_at = moment.at, leased_until = null, lease_token = null
   from moment, unnest($1::uuid[], $2::uuid[]) as w (organization_id, id)
   where p.organization_id = w.organization_id and p.id = w.id and p.settles_at is not null`,
);

/** Polls the rail about unverified payments immediately; the answer sets their settlement time again. */
export async function queryBeforeSettling(
  tx: Tx,
  payins: readonly Pick<SettlingPayin, 'organizationId' | 'id'>[],
): Promise<void> {
  if (payins.length === 0) return;
  await tx.query(QUERY_FIRST, [payins.map((payin) => payin.organizationId), payins.map((payin) => payin.id)]);
}

interface SettlingRow {
  organization_id: string;
  id: string;
  settling_in_cents: bigint;
  verified: boolean;
}

function settlingPayinFromRow(row: SettlingRow): SettlingPayin {
  return {
    organizationId: row.organization_id,
    id: row.id,
    amount: cents(row.settling_in_cents),
    verified: row.verified,
  };
}

const SETTLE = statement(
  'payin-settlement.settle',
  `update caudal.payins p set
     settlement_status = 'SETTLED', settlement_id = s.settlement_id, settles_at = null, updated_at = caudal.now()
   from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as s (organization_id, id, settlement_id)
   where p.organization_id = s.organization_id and p.id = s.id`,
);

export async function settlePayins(
  tx: Tx,
  payins: readonly (Pick<SettlingPayin, 'organizationId' | 'id'> & { readonly settlementId: string })[],
): Promise<void> {
  await tx.query(SETTLE, [
    payins.map((payin) => payin.organizationId),
    payins.map((payin) => payin.id),
    payins.map((payin) => payin.settlementId),
  ]);
}
