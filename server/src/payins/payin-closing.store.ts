import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { statement, type Tx } from '../db/tx.ts';
import { statesBefore } from './payin.states.ts';

const CLOSE_EARLY = statement(
  'payin-closing.early',
  // Whoever is asking about it meanwhile has lost the claim: its answer is heard, but decides no longer what is due next.
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set expires_at = m.at, rail_task = 'close', rail_due_at = m.at, leased_until = null, lease_token = null
   from moment m
   where p.organization_id = $1 and p.id = $2 and p.rail = 'BRE_B' and p.status in (${statesBefore('CONFIRMED')}) and p.expires_at > m.at
   returning 1`,
);

/**
 * Ends the time of a Bre-B payin now: its key is closed at the network and asked about, and unpaid it is CANCELED.
 * @returns false when it has ended, its time is over, or its rail cannot close
 */
export async function closeEarly(
  tx: Tx,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
): Promise<boolean> {
  return (await tx.query(CLOSE_EARLY, [organizationId, id])).length > 0;
}

const OPEN = statement(
  'payin-closing.open',
  `select count(*)::integer as count from caudal.payins where id ${WITHIN} and (result_at is null or rail_due_at is not null or settlement_status = 'PENDING_SETTLEMENT')`,
);

/** Those that have not ended, have something due, or whose money waits to be verified or settled. */
export function countOpenPayins(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
