import { ROW_ID, type RowId, uuid } from '../db/columns.ts';
import { queryRecords, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';

export interface SettlingPayin extends RowId {
  /** The payin's part of the pending balance: the amount received, and for a payment link also by earlier attempts. */
  readonly amount: Cents;
  /** A queried status listed the payment, or an operator released it. Other payins must not settle. */
  readonly verified: boolean;
}

/** The payin that completes a payment link brings what earlier attempts received. */
const SETTLING = 'p.confirmed_amount_in_cents + coalesce(p.earlier_parts_in_cents, 0) as amount_in_cents';

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
export function lockSettlingPayins(tx: Tx, limit: number): Promise<SettlingPayin[]> {
  return queryRecords(tx, LOCK_DUE, [limit]);
}

const RELOCK = statement(
  'payin-settlement.relock',
  `select p.organization_id, p.id, ${SETTLING}, ${VERIFIED} from caudal.payins p
   join ${ROW_IDS.as('w')} on p.organization_id = w.organization_id and p.id = w.id
   where p.settles_at is not null and p.status = 'CONFIRMED' and p.settlement_status = 'PENDING_SETTLEMENT'
   order by p.organization_id, p.id for update of p`,
);

/** Locks those of the payins that are still unsettled. */
export function relockSettling(tx: Tx, payins: readonly SettlingPayin[]): Promise<SettlingPayin[]> {
  return queryRecords(tx, RELOCK, ROW_IDS.parameters(payins));
}

const POSTPONE = statement(
  'payin-settlement.postpone',
  `update caudal.payins p set settles_at = caudal.now() + interval '1 hour'
   from ${ROW_IDS.as('w')}
   where p.organization_id = w.organization_id and p.id = w.id and p.settles_at is not null`,
);

/** Retries in an hour, so that these payins do not block the others. */
export async function postponeSettling(tx: Tx, payins: readonly SettlingPayin[]): Promise<void> {
  await tx.query(POSTPONE, ROW_IDS.parameters(payins));
}

const QUERY_FIRST = statement(
  'payin-settlement.query-first',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set settles_at = null, rail_task = 'poll', rail_due_at = moment.at, leased_until = null, lease_token = null
   from moment, ${ROW_IDS.as('w')}
   where p.organization_id = w.organization_id and p.id = w.id and p.settles_at is not null`,
);

/** Polls the rail about unverified payments immediately; the answer sets their settlement time again. */
export async function queryBeforeSettling(tx: Tx, payins: readonly RowId[]): Promise<void> {
  if (payins.length === 0) return;
  await tx.query(QUERY_FIRST, ROW_IDS.parameters(payins));
}

const SETTLED = new RowSet({ ...ROW_ID, settlement_id: uuid });

const SETTLE = statement(
  'payin-settlement.settle',
  `update caudal.payins p set
     settlement_status = 'SETTLED', settlement_id = s.settlement_id, settles_at = null, updated_at = caudal.now()
   from ${SETTLED.as('s')}
   where p.organization_id = s.organization_id and p.id = s.id`,
);

export async function settlePayins(tx: Tx, payins: readonly RecordOf<typeof SETTLED>[]): Promise<void> {
  await tx.query(SETTLE, SETTLED.parameters(payins));
}
