import type { RowId } from '../db/columns.ts';
import { queryRecords } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

/**
 * Searches payins across organizations, for operators. No index starts with the id or the reference alone: each statement
 * iterates over the organizations and probes the index that starts with the organization.
 */
const BY_ID = statement(
  'payin-search.by-id',
  `select p.organization_id, p.id from caudal.organizations o
   cross join lateral (select p.organization_id, p.id from caudal.payins p where p.organization_id = o.id and p.id = $1) as p`,
);

export function payinsById(tx: Tx, id: string): Promise<RowId[]> {
  return queryRecords(tx, BY_ID, [id]);
}

const BY_REFERENCE = statement(
  'payin-search.by-reference',
  `select r.organization_id, r.resource_id as id from caudal.organizations o
   cross join lateral (
     select r.organization_id, r.resource_id from caudal.resource_references r
     where r.organization_id = o.id and r.kind = 'payin' and r.reference = $1
   ) as r
   union all
   select p.organization_id, p.id from caudal.organizations o
   cross join lateral (
     select r.resource_id from caudal.resource_references r
     where r.organization_id = o.id and r.kind = 'payment_link' and r.reference = $1
   ) as r
   cross join lateral (
     select p.organization_id, p.id from caudal.payins p
     where p.organization_id = o.id and p.payment_link_id = r.resource_id order by p.id desc limit $2
   ) as p`,
);

/** Finds direct payins and the attempts of payment links. */
export function payinsByReference(tx: Tx, reference: string, limit: number): Promise<RowId[]> {
  return queryRecords(tx, BY_REFERENCE, [reference, limit]);
}

const BY_CUS = statement(
  'payin-search.by-cus',
  'select p.organization_id, p.id from caudal.payins p where p.pse_cus = $1 order by p.id desc limit $2',
);

export function payinsByCus(tx: Tx, cus: string, limit: number): Promise<RowId[]> {
  return queryRecords(tx, BY_CUS, [cus, limit]);
}

/** Search by creation time. */
export interface CreatedWithin {
  readonly from: Date;
  readonly to: Date;
  /** A wider range of ids: after a clock step, the time in an id can differ from the row's. */
  readonly firstId: string;
  readonly lastId: string;
  /** The requested or the confirmed amount, in cents. */
  readonly amount: bigint | null;
  readonly organizationId: string | null;
}

const CREATED_WITHIN = statement(
  'payin-search.created-within',
  `select p.organization_id, p.id from caudal.organizations o
   cross join lateral (
     select p.organization_id, p.id from caudal.payins p
     where p.organization_id = o.id and p.id >= $1 and p.id < $2 and p.created_at >= $3 and p.created_at < $4
       and ($5::bigint is null or $5 in (p.amount_in_cents, p.confirmed_amount_in_cents))
     order by p.id desc limit $7
   ) as p
   where $6::uuid is null or o.id = $6
   order by p.id desc limit $7`,
);

/** Newest first. */
export function payinsCreatedWithin(
  tx: Tx,
  { from, to, firstId, lastId, amount, organizationId }: CreatedWithin,
  limit: number,
): Promise<RowId[]> {
  return queryRecords(tx, CREATED_WITHIN, [firstId, lastId, from, to, amount, organizationId, limit]);
}
