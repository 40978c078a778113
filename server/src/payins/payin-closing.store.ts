import type { RowId } from '../db/columns.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { statement, type Tx } from '../db/tx.ts';
import { statesBefore } from './payin.states.ts';

const CLOSE_EARLY = statement(
  'payin-closing.early',
  // A concurrent poll loses its lease: its answer is still applied, but no longer decides the next task.
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set expires_at = m.at, rail_task = 'close', rail_due_at = m.at, leased_until = null, lease_token = null
   from moment m
   where p.organization_id = $1 and p.id = $2 and p.rail = 'BRE_B' and p.status in (${statesBefore('CONFIRMED')}) and p.expires_at > m.at
   returning 1`,
);

/**
 * Expires a Bre-B payin now. A worker then closes its key at the network and queries it; an unpaid payin becomes CANCELED.
 * @returns false when the payin is final or expired, or its rail cannot close collections
 */
export async function closeEarly(tx: Tx, { organizationId, id }: RowId): Promise<boolean> {
  return (await tx.query(CLOSE_EARLY, [organizationId, id])).length > 0;
}

const OPEN = statement(
  'payin-closing.open',
  `select count(*)::integer as count from caudal.payins where id ${WITHIN} and (result_at is null or rail_due_at is not null or settlement_status = 'PENDING_SETTLEMENT')`,
);

/** Counts payins that are not final, have due work, or whose money is not verified or settled yet. */
export function countOpenPayins(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
