import { nullable, ROW_ID, text, uuid } from '../db/columns.ts';
import { type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

const LEASED = new RowSet({ lease_token: uuid, ...ROW_ID, breb_key: nullable(text()) });

const RELEASE = statement(
  'payin-lease.release',
  `with wanted as (
     select * from ${LEASED.as('w')}
   ),
   keys as (
     update caudal.breb_keys k set leased_until = null, lease_token = null from wanted w
     where k.key = w.breb_key and k.lease_token = w.lease_token
   )
   update caudal.payins p set leased_until = null, lease_token = null from wanted w
   where p.organization_id = w.organization_id and p.id = w.id and p.lease_token = w.lease_token`,
);

export type LeasedPayin = RecordOf<typeof LEASED>;

/** Releases the leases on payins and their Bre-B keys, so that workers take their due work. Ignores missing payins. */
export async function releaseLeases(tx: Tx, payins: readonly LeasedPayin[]): Promise<void> {
  await tx.query(RELEASE, LEASED.parameters(payins));
}
