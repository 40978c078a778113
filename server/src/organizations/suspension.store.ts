import { queryRow } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

export interface Suspension {
  readonly at: Date;
  readonly by: string;
  readonly reason: string;
}

// A worker that commits payout attempts locks the rows of their organizations in share mode (payout-send.store.ts). This
// update waits for that lock, and no attempt is committed after it.
const SUSPEND = statement(
  'suspension.suspend',
  `update caudal.organizations set
     suspended_at = coalesce(suspended_at, caudal.now()), suspended_by = $2, suspension_reason = $3, updated_at = caudal.now()
   where id = $1 and not is_operator
   returning suspended_at as at, suspended_by as by, suspension_reason as reason`,
);

/** Suspending again replaces author and reason; the time stays. @returns null when there is no such organization */
export function suspend(
  tx: Tx,
  organizationId: string,
  { by, reason }: Omit<Suspension, 'at'>,
): Promise<Suspension | null> {
  return queryRow(tx, SUSPEND, [organizationId, by, reason]);
}

const RESUME = statement(
  'suspension.resume',
  `update caudal.organizations set suspended_at = null, suspended_by = null, suspension_reason = null, updated_at = caudal.now()
   where id = $1 and suspended_at is not null returning 1`,
);

/** @returns whether it was suspended */
export async function resume(tx: Tx, organizationId: string): Promise<boolean> {
  return (await tx.query(RESUME, [organizationId])).length > 0;
}

const SUSPENDED = statement(
  'suspension.suspended',
  'select from caudal.organizations where id = $1 and suspended_at is not null',
);

/** Reads the database: checkout pages have no credential that a change would invalidate. */
export async function isSuspended(tx: Tx, organizationId: string): Promise<boolean> {
  return (await tx.query(SUSPENDED, [organizationId])).length > 0;
}

const FIND = statement(
  'suspension.find',
  `select suspended_at as at, suspended_by as by, suspension_reason as reason
   from caudal.organizations where id = $1 and suspended_at is not null`,
);

export function findSuspension(tx: Tx, organizationId: string): Promise<Suspension | null> {
  return queryRow(tx, FIND, [organizationId]);
}
