import { statement, type Tx } from './tx.ts';

const SPAN = 'between $1::uuid and $2::uuid';

/**
 * What is still to come of a month, wherever it is written down. It reads tables of every room: whether a month is over is
 * a question about all of them at once, and nobody else asks it. A payin or payout that has not ended would look for its
 * month's history and event in vain; a row that is due, or a delivery that is tried again, would be lost with its month.
 */
const OPEN = statement(
  'months.open',
  `select what, count from (
     select 'payins that have not ended or settled' as what, count(*)::integer as count from caudal.payins
       where id ${SPAN} and (result_at is null or rail_due_at is not null or settles_at is not null)
     union all
     select 'payouts that have not ended', count(*)::integer from caudal.payouts where id ${SPAN} and (result_at is null or rail_task is not null)
     union all
     select 'payment links that have not ended', count(*)::integer from caudal.payment_links where id ${SPAN} and status = 'PENDING'
     union all
     select 'notices of rails that nothing was made of', count(*)::integer from caudal.rail_notices where id ${SPAN} and due_at is not null
     union all
     select 'events that were not dispatched', count(*)::integer from caudal.events where id ${SPAN} and undispatched
     union all
     select 'deliveries that are still tried', count(*)::integer from caudal.webhook_deliveries where event_id ${SPAN} and status = 'PENDING' and give_up_at > caudal.now()
   ) as open where count > 0`,
);

export interface OpenInMonth {
  readonly what: string;
  readonly count: number;
}

/** @param first,last the ids a month spans, both included */
export function openInMonth(tx: Tx, first: string, last: string): Promise<OpenInMonth[]> {
  return tx.query<OpenInMonth>(OPEN, [first, last]);
}
