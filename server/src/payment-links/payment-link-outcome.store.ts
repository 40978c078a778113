import { flag, ROW_ID, type RowId, uuid } from '../db/columns.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { queryRow, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import { LINK_LIST, type LinkRow } from './payment-link.store.ts';

const RESERVE = statement(
  'payment-link-outcome.reserve',
  `update caudal.payment_links l set open_payin_id = $3
   where l.organization_id = $1 and l.id = $2 and l.status = 'PENDING' and l.open_payin_id is null and l.closes_at > caudal.now()
     and not exists (select from caudal.organizations o where o.id = l.organization_id and o.suspended_at is not null)
   returning ${LINK_LIST}, caudal.now() as now`,
);

/**
 * Reserves a link for an attempt. The caller inserts the attempt's payin in the same transaction.
 * @returns null if the link has ended or is closed, another attempt is open, or its organization is suspended
 */
export async function reserveLinkForAttempt(
  tx: Tx,
  { organizationId, id }: RowId,
  payinId: string,
): Promise<(LinkRow & { readonly now: Date }) | null> {
  const [row] = await tx.query<LinkRow & { now: Date }>(RESERVE, [organizationId, id, payinId]);
  return row ?? null;
}

const LOCK = statement(
  'payment-link-outcome.lock',
  `select l.organization_id, l.id, l.status from caudal.payment_links l
   join ${ROW_IDS.as('w')} on l.organization_id = w.organization_id and l.id = w.id
   order by l.organization_id, l.id for update of l`,
);

/** Lock order: payins before links, links by organization and id. */
export async function lockLinks(
  tx: Tx,
  links: readonly RowId[],
): Promise<Pick<LinkRow, 'organization_id' | 'id' | 'status'>[]> {
  if (links.length === 0) return [];
  return tx.query(LOCK, ROW_IDS.parameters(links));
}

const ENDED = new RowSet({
  ...ROW_ID,
  payin_id: uuid,
  /** The attempt paid the link's amount. */
  completes: flag,
});

/** An attempt whose payin is final. */
export type EndedAttempt = RecordOf<typeof ENDED>;

const END_ATTEMPTS = statement(
  'payment-link-outcome.end-attempts',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payment_links l set
     open_payin_id = case when l.open_payin_id = e.payin_id then null else l.open_payin_id end,
     status = case when e.completes then 'COMPLETED' else l.status end,
     payin_id = case when e.completes then e.payin_id else l.payin_id end,
     completed_at = case when e.completes then greatest(m.at, l.updated_at) else l.completed_at end,
     updated_at = case when e.completes then greatest(m.at, l.updated_at) else l.updated_at end
   from moment m, ${ENDED.as('e')}
   where l.organization_id = e.organization_id and l.id = e.id and l.status = 'PENDING'
   returning ${LINK_LIST}, e.completes`,
);

/** Requires locked links. @returns the links that the attempts complete */
export async function endAttempts(tx: Tx, attempts: readonly EndedAttempt[]): Promise<LinkRow[]> {
  if (attempts.length === 0) return [];
  const rows = await tx.query<LinkRow & { completes: boolean }>(END_ATTEMPTS, ENDED.parameters(attempts));
  return rows.filter((row) => row.completes);
}

const EXPIRED = "l.status = 'PENDING' and l.open_payin_id is null and l.closes_at <= caudal.now()";

/** Whether any link without an open attempt has expired. */
export const LINKS_DUE = `exists (select from caudal.payment_links l where ${EXPIRED})`;

const EXPIRE = statement(
  'payment-link-outcome.expire',
  `with moment as materialized (select caudal.now() as at),
   due as (
     select l.organization_id, l.id from caudal.payment_links l
     where ${EXPIRED}
     order by l.closes_at limit $1 for update skip locked
   )
   update caudal.payment_links l set status = 'EXPIRED', updated_at = greatest(m.at, l.updated_at)
   from moment m, due where l.organization_id = due.organization_id and l.id = due.id
   returning ${LINK_LIST}`,
);

/** Expires up to `limit` due links without an open attempt. */
export function expireLinks(tx: Tx, limit: number): Promise<LinkRow[]> {
  return tx.query<LinkRow>(EXPIRE, [limit]);
}

const CLOSE = statement(
  'payment-link-outcome.close',
  `update caudal.payment_links l set closes_at = least(l.closes_at, caudal.now())
   where l.organization_id = $1 and l.id = $2
   returning ${LINK_LIST}`,
);

/** Prevents new attempts; an open attempt continues. @returns null if the link does not exist */
export function closeLinkToAttempts(tx: Tx, { organizationId, id }: RowId): Promise<LinkRow | null> {
  return queryRow(tx, CLOSE, [organizationId, id]);
}

const COUNT_OPEN = statement(
  'payment-link-outcome.count-open',
  `select count(*)::integer as count from caudal.payment_links where id ${WITHIN} and status = 'PENDING'`,
);

/** Links that are not final yet. */
export function countOpenLinks(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, COUNT_OPEN, span);
}
