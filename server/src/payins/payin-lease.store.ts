import { statement, type Tx } from '../db/tx.ts';

const RELEASE = statement(
  'payin-lease.release',
  `with wanted as (
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) as w (lease_token, organization_id, id, key)
   ),
   keys as (
     update caudal.breb_keys k set leased_until = null, lease_token = null from wanted w
     where k.key = w.key and k.lease_token = w.lease_token
   )
   update caudal.payins p set leased_until = null, lease_token = null from wanted w
   where p.organization_id = w.organization_id and p.id = w.id and p.lease_token = w.lease_token`,
);

export interface LeasedPayin {
  readonly leaseToken: string;
  readonly organizationId: string;
  readonly id: string;
  readonly brebKey: string | null;
}

/** Releases the leases on payins and their Bre-B keys, so that workers take their due work. Ignores missing payins. */
export async function releaseLeases(tx: Tx, payins: readonly LeasedPayin[]): Promise<void> {
  await tx.query(RELEASE, [
    payins.map((payin) => payin.leaseToken),
    payins.map((payin) => payin.organizationId),
    payins.map((payin) => payin.id),
    payins.map((payin) => payin.brebKey),
  ]);
}
