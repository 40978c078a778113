import { statement, type Tx } from '../db/tx.ts';

export type ReferenceKind = 'payin' | 'payout' | 'payment_link';

export interface ReferenceReservation {
  readonly organizationId: string;
  readonly reference: string;
  readonly resourceId: string;
}

/** "Do update" for the same reason as with idempotency keys: a 409 is a promise as well. */
const CLAIM = statement(
  'reference.claim',
  `insert into caudal.resource_references (organization_id, kind, reference, resource_id)
   select organization_id, $1, reference, resource_id
   from unnest($2::uuid[], $3::text[], $4::uuid[]) as claim (organization_id, reference, resource_id)
   on conflict on constraint reference_once do update set repeats = resource_references.repeats + 1
   returning resource_id, reference`,
);

/**
 * Claims references for ever; answers which resource holds each, in the order of the claims.
 * @param claims sorted by organization and reference, no two equal
 */
export async function reserveReferences(
  tx: Tx,
  kind: ReferenceKind,
  claims: readonly ReferenceReservation[],
): Promise<string[]> {
  if (claims.length === 0) return [];
  const rows = await tx.query<{ resource_id: string; reference: string }>(CLAIM, [
    kind,
    claims.map((claim) => claim.organizationId),
    claims.map((claim) => claim.reference),
    claims.map((claim) => claim.resourceId),
  ]);
  return claims.map((claim, index) => {
    const row = rows[index];
    if (row?.reference !== claim.reference) throw new Error('claims came back in another order');
    return row.resource_id;
  });
}

const RELEASE = statement(
  'reference.release',
  `delete from caudal.resource_references r using unnest($2::uuid[], $3::text[], $4::uuid[]) as claim (organization_id, reference, resource_id)
   where r.organization_id = claim.organization_id and r.kind = $1 and r.reference = claim.reference and r.resource_id = claim.resource_id`,
);

/** Takes back claims of commands that came to nothing. */
export async function releaseReferences(
  tx: Tx,
  kind: ReferenceKind,
  claims: readonly ReferenceReservation[],
): Promise<void> {
  if (claims.length === 0) return;
  await tx.query(RELEASE, [
    kind,
    claims.map((claim) => claim.organizationId),
    claims.map((claim) => claim.reference),
    claims.map((claim) => claim.resourceId),
  ]);
}
