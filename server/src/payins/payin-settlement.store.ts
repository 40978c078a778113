import { statement, type Tx } from '../db/tx.ts';
import { type Cents, cents } from '../kit/money.ts';

export interface SettlingPayin {
  readonly organizationId: string;
  readonly id: string;
  /** What waits for it in the organization's pending account: what came in, of a link's payin no more than its amount. */
  readonly amount: Cents;
  /** A status that we queried listed its payment, or an operator released it: nothing else settles. */
  readonly verified: boolean;
}

/** Beyond the amount of a payment link nothing is the merchant's. */
const SETTLING = `case when p.payment_link_id is null then p.confirmed_amount_in_cents else least(p.confirmed_amount_in_cents, p.amount_in_cents) end as settling_in_cents`;

const VERIFIED = 'num_nonnulls(p.payment_verified_at, p.settlement_released_at) > 0 as verified';

const CLAIM = statement(
  'payin-settlement.claim',
  // Another run's payins are passed over, not waited for; what it leaves is found by the next round.
  `select p.organization_id, p.id, ${SETTLING}, ${VERIFIED} from caudal.payins p
   where p.settles_at <= caudal.now() and p.status = 'CONFIRMED' and p.settlement_status = 'PENDING_SETTLEMENT'
   order by p.settles_at limit $1
   for update skip locked`,
);

/** Up to `most` payins whose money may become available, longest due first. They are this transaction's until it ends. */
export async function lockSettlingPayins(tx: Tx, limit: number): Promise<SettlingPayin[]> {
  return (await tx.query<SettlingRow>(CLAIM, [limit])).map(settlingPayin);
}

const RELOCK = statement(
  'payin-settlement.relock',
  `select p.organization_id, p.id, ${SETTLING}, ${VERIFIED} from caudal.payins p
   join unnest($1::uuid[], $2::uuid[]) as w (organization_id, id) on p.organization_id = w.organization_id and p.id = w.id
   where p.settles_at is not null and p.status = 'CONFIRMED' and p.settlement_status = 'PENDING_SETTLEMENT'
   order by p.organization_id, p.id for update of p`,
);

/** Those of them that nobody has settled meanwhile. */
export async function relockSettling(tx: Tx, payins: readonly SettlingPayin[]): Promise<SettlingPayin[]> {
  const rows = await tx.query<SettlingRow>(RELOCK, [
    payins.map((payin) => payin.organizationId),
    payins.map((payin) => payin.id),
  ]);
  return rows.map(settlingPayin);
}

const PUT_OFF = statement(
  'payin-settlement.put-off',
  `update caudal.payins p set settles_at = caudal.now() + interval '1 hour'
   from unnest($1::uuid[], $2::uuid[]) as w (organization_id, id)
   where p.organization_id = w.organization_id and p.id = w.id and p.settles_at is not null`,
);

/** Out of the way of the others, and not forgotten. */
export async function postponeSettling(tx: Tx, payins: readonly SettlingPayin[]): Promise<void> {
  await tx.query(PUT_OFF, [payins.map((payin) => payin.organizationId), payins.map((payin) => payin.id)]);
}

const QUERY_FIRST = statement(
  'payin-settlement.query-first',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set settles_at = null, rail_task = 'ask', rail_due_at = moment.at, leased_until = null, lease_token = null
   from moment, unnest($1::uuid[], $2::uuid[]) as w (organization_id, id)
   where p.organization_id = w.organization_id and p.id = w.id and p.settles_at is not null`,
);

/** The rail is queried about their payment at once; the answer sets the time to settle again. */
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

function settlingPayin(row: SettlingRow): SettlingPayin {
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
