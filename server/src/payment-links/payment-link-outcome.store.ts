import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { statement, type Tx } from '../db/tx.ts';
import { LINK_COLUMNS, type LinkRow } from './payment-link.store.ts';

export interface LinkKey {
  readonly organizationId: string;
  readonly id: string;
}

const TAKE = statement(
  'payment-link-outcome.take',
  `update caudal.payment_links l set open_payin_id = $3
   where l.organization_id = $1 and l.id = $2 and l.status = 'PENDING' and l.open_payin_id is null and l.shuts_at > caudal.now()
     and not exists (select from caudal.organizations o where o.id = l.organization_id and o.suspended_at is not null)
   returning ${LINK_COLUMNS}, caudal.now() as now`,
);

/**
 * For an attempt, which is written in the same transaction.
 * @returns null when the link has ended, is shut, another attempt is under way, or its organization is suspended
 */
export async function takeLink(
  tx: Tx,
  { organizationId, id }: LinkKey,
  payinId: string,
): Promise<(LinkRow & { readonly now: Date }) | null> {
  const [row] = await tx.query<LinkRow & { now: Date }>(TAKE, [organizationId, id, payinId]);
  return row ?? null;
}

const LOCK = statement(
  'payment-link-outcome.lock',
  `select l.organization_id, l.id, l.status from caudal.payment_links l
   join unnest($1::uuid[], $2::uuid[]) as w (organization_id, id) on l.organization_id = w.organization_id and l.id = w.id
   order by l.organization_id, l.id for update of l`,
);

/** After their payins, in one order for all. */
export async function lockLinks(
  tx: Tx,
  links: readonly LinkKey[],
): Promise<Pick<LinkRow, 'organization_id' | 'id' | 'status'>[]> {
  if (links.length === 0) return [];
  return tx.query(LOCK, [links.map((link) => link.organizationId), links.map((link) => link.id)]);
}

/** An attempt that has ended. */
export interface EndedAttempt extends LinkKey {
  readonly payinId: string;
  /** It brought the link's amount. */
  readonly completes: boolean;
}

const END_ATTEMPTS = statement(
  'payment-link-outcome.end-attempts',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payment_links l set
     open_payin_id = case when l.open_payin_id = e.payin_id then null else l.open_payin_id end,
     status = case when e.completes then 'COMPLETED' else l.status end,
     payin_id = case when e.completes then e.payin_id else l.payin_id end,
     completed_at = case when e.completes then greatest(m.at, l.updated_at) else l.completed_at end,
     updated_at = case when e.completes then greatest(m.at, l.updated_at) else l.updated_at end
   from moment m, unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[]) as e (organization_id, id, payin_id, completes)
   where l.organization_id = e.organization_id and l.id = e.id and l.status = 'PENDING'
   returning ${LINK_COLUMNS}, e.completes`,
);

/** The links are locked. @returns those that are completed by them */
export async function endAttempts(tx: Tx, attempts: readonly EndedAttempt[]): Promise<LinkRow[]> {
  if (attempts.length === 0) return [];
  const rows = await tx.query<LinkRow & { completes: boolean }>(END_ATTEMPTS, [
    attempts.map((each) => each.organizationId),
    attempts.map((each) => each.id),
    attempts.map((each) => each.payinId),
    attempts.map((each) => each.completes),
  ]);
  return rows.filter((row) => row.completes);
}

const EXPIRED = "l.status = 'PENDING' and l.open_payin_id is null and l.shuts_at <= caudal.now()";

/** Whether a link without an attempt has expired. */
export const LINKS_DUE = `exists (select from caudal.payment_links l where ${EXPIRED})`;

const EXPIRE = statement(
  'payment-link-outcome.expire',
  `with moment as materialized (select caudal.now() as at),
   due as (
     select l.organization_id, l.id from caudal.payment_links l
     where ${EXPIRED}
     order by l.shuts_at limit $1 for update skip locked
   )
   update caudal.payment_links l set status = 'EXPIRED', updated_at = greatest(m.at, l.updated_at)
   from moment m, due where l.organization_id = due.organization_id and l.id = due.id
   returning ${LINK_COLUMNS}`,
);

/** Up to `most` links whose time is over and that nobody is paying. */
export function expireLinks(tx: Tx, limit: number): Promise<LinkRow[]> {
  return tx.query<LinkRow>(EXPIRE, [limit]);
}

const SHUT = statement(
  'payment-link-outcome.shut',
  `update caudal.payment_links l set shuts_at = least(l.shuts_at, caudal.now())
   where l.organization_id = $1 and l.id = $2
   returning ${LINK_COLUMNS}`,
);

/** No attempt is begun any more; what is under way is awaited. @returns null when there is no such link */
export async function shutLink(tx: Tx, { organizationId, id }: LinkKey): Promise<LinkRow | null> {
  const [row] = await tx.query<LinkRow>(SHUT, [organizationId, id]);
  return row ?? null;
}

const OPEN = statement(
  'payment-link-outcome.open',
  `select count(*)::integer as count from caudal.payment_links where id ${WITHIN} and status = 'PENDING'`,
);

/** Those that wait for their money. */
export function countOpenLinks(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
