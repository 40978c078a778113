import { statement, type Tx } from '../db/tx.ts';

const RELEASE = statement(
  'payin-claim.release',
  `with wanted as (
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) as w (claim_token, organization_id, id, key)
   ),
   keys as (
     update caudal.breb_keys k set claimed_until = null, claim_token = null from wanted w
     where k.key = w.key and k.claim_token = w.claim_token
   )
   update caudal.payins p set claimed_until = null, claim_token = null from wanted w
   where p.organization_id = w.organization_id and p.id = w.id and p.claim_token = w.claim_token`,
);

export interface ClaimedPayin {
  readonly claimToken: string;
  readonly organizationId: string;
  readonly id: string;
  /** Its Bre-B key, if it has one. */
  readonly key: string | null;
}

/** Lets workers have the due work of these payins, where they exist. */
export async function releaseClaims(tx: Tx, payins: readonly ClaimedPayin[]): Promise<void> {
  await tx.query(RELEASE, [
    payins.map((payin) => payin.claimToken),
    payins.map((payin) => payin.organizationId),
    payins.map((payin) => payin.id),
    payins.map((payin) => payin.key),
  ]);
}
