import type { RowId } from '../db/columns.ts';
import { statement, type Tx } from '../db/tx.ts';

const RELEASE = statement(
  'payin-hold.release',
  `update caudal.payins p set
     settles_at = caudal.now(), settlement_released_at = caudal.now(), rail_task = null, rail_due_at = null,
     leased_until = null, lease_token = null
   where p.organization_id = $1 and p.id = $2 and p.settlement_status = 'PENDING_SETTLEMENT' and p.settles_at is null
   returning 1`,
);

/** Releases a held settlement on an operator's decision: it settles with the next run. @returns false when it is not held */
export async function releaseSettlement(tx: Tx, { organizationId, id }: RowId): Promise<boolean> {
  return (await tx.query(RELEASE, [organizationId, id])).length > 0;
}

const REVERSE = statement(
  'payin-hold.reverse',
  // The rail is polled immediately: it may list the execution with another amount, which is then posted as such.
  `update caudal.payins p set
     settlement_status = 'REVERSED', updated_at = greatest(caudal.now(), p.updated_at), rail_task = 'poll', rail_due_at = caudal.now(),
     leased_until = null, lease_token = null
   where p.organization_id = $1 and p.id = $2 and p.settlement_status = 'PENDING_SETTLEMENT' and p.settles_at is null
   returning 1`,
);

/** Reverses a held settlement: the payin never settles and keeps its status. @returns false when it is not held */
export async function reverseSettlement(tx: Tx, { organizationId, id }: RowId): Promise<boolean> {
  return (await tx.query(REVERSE, [organizationId, id])).length > 0;
}
