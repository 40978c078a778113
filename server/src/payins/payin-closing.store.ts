import type { RowId } from '../db/columns.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { ROW_IDS } from '../db/records.ts';
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

const CLOSE_UNLOCKED = statement(
  'payin-closing.unlocked',
  // The caller holds locks of links, which everywhere else are taken after those of payins: it must not wait here.
  `with moment as materialized (select caudal.now() as at),
   open as (
     select p.organization_id, p.id from caudal.payins p
     join ${ROW_IDS.as('w')} on p.organization_id = w.organization_id and p.id = w.id
     where p.rail = 'BRE_B' and p.status in (${statesBefore('CONFIRMED')}) for update of p skip locked
   )
   update caudal.payins p set expires_at = least(p.expires_at, m.at), rail_task = 'close', rail_due_at = m.at, leased_until = null, lease_token = null
   from moment m, open where p.organization_id = open.organization_id and p.id = open.id`,
);

/** Like `closeEarly`, for payins that no other transaction has locked. The others close when they expire. */
export async function closeUnlocked(tx: Tx, payins: readonly RowId[]): Promise<void> {
  if (payins.length > 0) await tx.query(CLOSE_UNLOCKED, ROW_IDS.parameters(payins));
}

const OPEN = statement(
  'payin-closing.open',
  `select count(*)::integer as count from caudal.payins where id ${WITHIN} and (result_at is null or rail_due_at is not null or settlement_status = 'PENDING_SETTLEMENT')`,
);

/** Counts payins that are not final, have due work, or whose money is not verified or settled yet. */
export function countOpenPayins(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
