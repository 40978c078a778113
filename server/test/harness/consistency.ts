import type { TestDatabase } from './database.ts';

/** Invariants of payins: every returned row is a violation. */
const INVARIANT_VIOLATIONS = `
  select 'payin without its reference' as what, p.id::text from caudal.payins p
    where not exists (select from caudal.resource_references r where r.kind = 'payin'
      and r.organization_id = p.organization_id and r.reference = p.reference and r.resource_id = p.id)
  union all
  select 'reference without its payin', r.resource_id::text from caudal.resource_references r
    where r.kind = 'payin' and not exists (select from caudal.payins p
      where p.organization_id = r.organization_id and p.id = r.resource_id and p.reference = r.reference)
  union all
  select 'idempotency key without its payin', i.resource_id::text from caudal.idempotency_keys i
    where not exists (select from caudal.payins p
      where p.organization_id = i.organization_id and p.id = i.resource_id)
  union all
  select 'payin with two idempotency keys', min(i.resource_id::text) from caudal.idempotency_keys i
    group by i.organization_id, i.resource_id having count(*) > 1
  union all
  select 'payin without a creation entry in its history', p.id::text from caudal.payins p
    where not exists (select from caudal.payin_history h where h.organization_id = p.organization_id
      and h.payin_id = p.id and h.from_status = 'NONE')
  union all
  select 'payin whose status is missing in its history', p.id::text from caudal.payins p
    where not exists (select from caudal.payin_history h where h.organization_id = p.organization_id
      and h.payin_id = p.id and h.to_status = p.status)
  union all
  select 'history without its payin', h.payin_id::text from caudal.payin_history h
    where not exists (select from caudal.payins p where p.organization_id = h.organization_id and p.id = h.payin_id)
  union all
  select 'Bre-B payin without its key', p.id::text from caudal.payins p
    where p.rail = 'BRE_B' and not exists (select from caudal.breb_keys k where k.key = p.breb_key
      and k.organization_id = p.organization_id and k.payin_id = p.id)
  union all
  select 'Bre-B key without its payin', k.key from caudal.breb_keys k
    where not exists (select from caudal.payins p where p.organization_id = k.organization_id
      and p.id = k.payin_id and p.breb_key = k.key)
  union all
  select 'PSE payin that is PROCESSING without a bank page', p.id::text from caudal.payins p
    where p.rail = 'PSE' and p.status = 'PROCESSING' and p.pse_url is null`;

export function payinInvariantViolations(database: TestDatabase): Promise<{ what: string; id: string }[]> {
  return database.query<{ what: string; id: string }>(INVARIANT_VIOLATIONS);
}

/** Row counts of one organization. */
export interface RowCounts {
  readonly payins: number;
  readonly creations: number;
  readonly brebKeys: number;
  readonly references: number;
  readonly idempotencyKeys: number;
}

export async function rowCounts(database: TestDatabase, organizationId: string): Promise<RowCounts> {
  const [row] = await database.query<RowCounts>(
    `select
       (select count(*)::int from caudal.payins where organization_id = $1) as payins,
       (select count(*)::int from caudal.payin_history where organization_id = $1 and from_status = 'NONE') as creations,
       (select count(*)::int from caudal.breb_keys where organization_id = $1) as "brebKeys",
       (select count(*)::int from caudal.resource_references where organization_id = $1) as "references",
       (select count(*)::int from caudal.idempotency_keys where organization_id = $1) as "idempotencyKeys"`,
    [organizationId],
  );
  if (!row) throw new Error('no row counts returned');
  return row;
}
