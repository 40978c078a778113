import { queryRow } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

/** The count examines no more payins than this. */
export const COUNTED_PAYINS = 2000;

const COUNT = statement(
  'payin.completed-count',
  `select (count(*) filter (where newest.status = 'CONFIRMED'))::int as completed, count(*)::int as examined
   from (
     select p.status from caudal.payins p where p.organization_id = $1 and p.id >= $2 order by p.id desc limit ${COUNTED_PAYINS}
   ) as newest`,
);

/** Counts confirmed payins among the newest ones from an id on: a lower bound if `examined` reaches the limit. */
export async function countCompletedPayins(
  tx: Tx,
  organizationId: string,
  firstId: string,
): Promise<{ completed: number; examined: number }> {
  const row = await queryRow<{ completed: number; examined: number }>(tx, COUNT, [organizationId, firstId]);
  return row ?? { completed: 0, examined: 0 };
}
