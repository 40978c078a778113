import { bytes, copied, insertSelect, money, nullable, type RowId, text, time, uuid } from '../db/columns.ts';
import { queryRecord, queryRecords, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';

/** SQL condition on an order `r` and a payout `p`: the payout may repeat an order that only the rail has. */
const MAY_REPEAT = `r.closed_at is null and r.organization_id = p.organization_id and r.receiver_index = p.receiver_index
  and r.amount_in_cents = p.amount_in_cents and p.created_at >= r.restored_to and p.id <> all (r.released)`;

/** SQL condition on a payout `p`: an operator must first decide whether it repeats an order that only the rail has. */
export const HELD_AFTER_RESTORE = `(select true from caudal.restored_orders r where ${MAY_REPEAT} limit 1) is not null`;

const COLUMNS = {
  end_to_end_id: text(),
  organization_id: uuid,
  receiver_index: nullable(bytes),
  amount_in_cents: money,
  rail_status: text<'processing' | 'settled' | 'rejected'>(),
  execution_id: nullable(text()),
  ordered_at: time,
  restored_to: time,
};
const ORDERS = new RowSet(COLUMNS);

export type RestoredOrder = RecordOf<typeof ORDERS>;

const RECORD = statement(
  'restored-order.record',
  // An order listed again gets its newest status; a rejected one moved no money and holds nothing.
  `${insertSelect('caudal.restored_orders', copied(COLUMNS))} from ${ORDERS.as('o')}
   where o.rail_status <> 'rejected' or exists (select from caudal.restored_orders known where known.end_to_end_id = o.end_to_end_id)
   order by o.end_to_end_id collate "C"
   on conflict (end_to_end_id) do update set rail_status = excluded.rail_status, execution_id = excluded.execution_id,
     closed_at = case when excluded.rail_status = 'rejected' then clock_timestamp() else caudal.restored_orders.closed_at end`,
);

export async function recordRestoredOrders(tx: Tx, orders: readonly RestoredOrder[]): Promise<void> {
  if (orders.length > 0) await tx.query(RECORD, ORDERS.parameters(orders));
}

export interface OpenRestoredOrder extends RestoredOrder {
  /** Payouts that wait because they may repeat it. */
  readonly heldPayouts: readonly string[];
}

const LIST = statement(
  'restored-order.list',
  `select r.end_to_end_id, r.organization_id, r.receiver_index, r.amount_in_cents, r.rail_status, r.execution_id, r.ordered_at, r.restored_to,
     array(select p.id from caudal.payouts p where p.rail_task = 'send' and ${MAY_REPEAT} order by p.id) as held_payouts
   from caudal.restored_orders r where r.closed_at is null order by r.ordered_at, r.end_to_end_id limit $1`,
);

export function openRestoredOrders(tx: Pick<Tx, 'query'>, limit: number): Promise<OpenRestoredOrder[]> {
  return queryRecords(tx, LIST, [limit]);
}

const FIND_HOLDING = statement(
  'restored-order.find-holding',
  `select r.end_to_end_id, r.amount_in_cents, r.rail_status, r.execution_id from caudal.restored_orders r
   join caudal.payouts p on p.organization_id = $1 and p.id = $2 and ${MAY_REPEAT}
   order by r.ordered_at, r.end_to_end_id limit 1 for update of r`,
);

export interface HoldingOrder {
  readonly endToEndId: string;
  readonly amount: Cents;
  readonly railStatus: RestoredOrder['railStatus'];
  readonly executionId: string | null;
}

/** The oldest order that holds a payout, locked; null when none does. */
export function lockHoldingOrder(tx: Tx, { organizationId, id }: RowId): Promise<HoldingOrder | null> {
  return queryRecord(tx, FIND_HOLDING, [organizationId, id]);
}

const RELEASE = statement(
  'restored-order.release',
  `update caudal.restored_orders r set released = r.released || p.id
   from caudal.payouts p where p.organization_id = $1 and p.id = $2 and ${MAY_REPEAT}`,
);

/** No order holds this payout any longer, because it is another payment. */
export async function releasePayout(tx: Tx, { organizationId, id }: RowId): Promise<void> {
  await tx.query(RELEASE, [organizationId, id]);
}

const CLOSE = statement(
  'restored-order.close',
  'update caudal.restored_orders set repeated_by = $2, closed_at = clock_timestamp() where end_to_end_id = $1',
);

/** The order has been repeated by a payout that was canceled: it holds no other payout. */
export async function closeRestoredOrder(tx: Tx, endToEndId: string, payoutId: string): Promise<void> {
  await tx.query(CLOSE, [endToEndId, payoutId]);
}

const MARK_SENT = statement(
  'restored-order.mark-sent',
  // Clearing the lease discards what a process decided before. The rail is polled at once.
  `with moment as materialized (select caudal.now() as at),
   sent as (
     update caudal.payouts p set rail_task = 'poll', rail_due_at = moment.at, attempts = p.attempts + 1,
       first_sent_at = coalesce(p.first_sent_at, moment.at), last_sent_at = moment.at,
       leased_until = null, lease_token = null
     from moment, ${ROW_IDS.as('w')}
     where p.organization_id = w.organization_id and p.id = w.id and p.status = 'PROCESSING' and p.attempts = p.unsent_attempts
     returning p.organization_id, p.id, p.attempts, p.last_sent_at
   )
   insert into caudal.payout_attempts (organization_id, payout_id, number, at)
   select organization_id, id, attempts, last_sent_at from sent
   returning payout_id`,
);

/** Records the attempt of payouts that the rail has an order of, and the restored database does not. @returns their number */
export async function markSent(tx: Tx, payouts: readonly RowId[]): Promise<number> {
  return payouts.length === 0 ? 0 : (await tx.query(MARK_SENT, ROW_IDS.parameters(payouts))).length;
}

const MARK_RESENT = statement(
  'restored-order.mark-resent',
  `update caudal.payouts p set rail_task = 'poll', rail_due_at = caudal.now(), leased_until = null, lease_token = null
   from ${ROW_IDS.as('w')}
   where p.organization_id = w.organization_id and p.id = w.id and p.status = 'PROCESSING' and p.rail_task = 'send' and p.attempts > p.unsent_attempts
   returning 1`,
);

/** Payouts that wait to be sent again, although the rail has their order: it is polled instead. */
export async function pollInstead(tx: Tx, payouts: readonly RowId[]): Promise<void> {
  if (payouts.length > 0) await tx.query(MARK_RESENT, ROW_IDS.parameters(payouts));
}
