import { money, nullable, ROW_ID, type RowId, uuid } from '../db/columns.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { queryRow, ROW_IDS, RowSet } from '../db/records.ts';
import { endedChange, type StateChange, statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';
import type { Rail } from '../rails/contract.ts';
import { LINK_LIST, type LinkRow } from './payment-link.store.ts';

/** The column that refers to the open attempt on each rail. */
const OPEN_PAYIN: Readonly<Record<Rail, string>> = { BRE_B: 'open_breb_payin_id', PSE: 'open_pse_payin_id' };

function reserve(rail: Rail) {
  const column = OPEN_PAYIN[rail];
  return statement(
    `payment-link-outcome.reserve-${rail === 'PSE' ? 'pse' : 'breb'}`,
    `update caudal.payment_links l set ${column} = $3
     where l.organization_id = $1 and l.id = $2 and l.status = 'PENDING' and l.${column} is null and l.closes_at > caudal.now()
       and not exists (select from caudal.organizations o where o.id = l.organization_id and o.suspended_at is not null)
     returning ${LINK_LIST}, caudal.now() as now`,
  );
}

const RESERVE = { BRE_B: reserve('BRE_B'), PSE: reserve('PSE') };

/**
 * Reserves a link for an attempt. The caller inserts the attempt's payin in the same transaction.
 * @returns null if the link has ended or is closed, another attempt on this rail is open, or its organization is suspended
 */
export async function reserveLinkForAttempt(
  tx: Tx,
  { organizationId, id }: RowId,
  rail: Rail,
  payinId: string,
): Promise<(LinkRow & { readonly now: Date }) | null> {
  const [row] = await tx.query<LinkRow & { now: Date }>(RESERVE[rail], [organizationId, id, payinId]);
  return row ?? null;
}

const LOCK = statement(
  'payment-link-outcome.lock',
  `select l.organization_id, l.id, l.status, l.amount_in_cents, l.paid_in_cents, l.open_breb_payin_id
   from caudal.payment_links l
   join ${ROW_IDS.as('w')} on l.organization_id = w.organization_id and l.id = w.id
   order by l.organization_id, l.id for update of l`,
);

/** A locked link, before the attempts of this transaction end. */
export type LockedLink = Pick<
  LinkRow,
  'organization_id' | 'id' | 'status' | 'amount_in_cents' | 'paid_in_cents' | 'open_breb_payin_id'
>;

/** Lock order: payins before links, links by organization and id. */
export async function lockLinks(tx: Tx, links: readonly RowId[]): Promise<LockedLink[]> {
  if (links.length === 0) return [];
  return tx.query(LOCK, ROW_IDS.parameters(links));
}

const ENDED = new RowSet({
  ...ROW_ID,
  breb_payin_id: nullable(uuid),
  pse_payin_id: nullable(uuid),
  paid: money,
  payin_id: nullable(uuid),
});

/** The attempts of one link whose payins became final in this transaction. */
export interface EndedAttempts extends RowId {
  readonly brebPayinId: string | null;
  readonly psePayinId: string | null;
  /** What they received toward the amount of the link. */
  readonly paid: Cents;
  /** The attempt that completes the link; null if the sum does not reach the amount. */
  readonly payinId: string | null;
}

const END_ATTEMPTS = statement(
  'payment-link-outcome.end-attempts',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payment_links l set
     open_breb_payin_id = case when e.payin_id is null then nullif(l.open_breb_payin_id, e.breb_payin_id) end,
     open_pse_payin_id = case when e.payin_id is null then nullif(l.open_pse_payin_id, e.pse_payin_id) end,
     paid_in_cents = l.paid_in_cents + e.paid,
     status = case when e.payin_id is null then l.status else 'COMPLETED' end,
     payin_id = e.payin_id,
     completed_at = case when e.payin_id is not null then greatest(m.at, l.updated_at) end,
     updated_at = case when e.payin_id is null then l.updated_at else greatest(m.at, l.updated_at) end
   from moment m, ${ENDED.as('e')}
   where l.organization_id = e.organization_id and l.id = e.id and l.status = 'PENDING'
   returning ${LINK_LIST}`,
);

/** Requires locked links, each at most once. @returns the links that the attempts complete */
export async function endAttempts(tx: Tx, attempts: readonly EndedAttempts[]): Promise<LinkRow[]> {
  if (attempts.length === 0) return [];
  const rows = await tx.query<LinkRow>(END_ATTEMPTS, ENDED.parameters(attempts));
  const completed = rows.filter((row) => row.status === 'COMPLETED');
  tx.report(completed.map(toEnded));
  return completed;
}

const EXPIRED =
  "l.status = 'PENDING' and l.open_breb_payin_id is null and l.open_pse_payin_id is null and l.closes_at <= caudal.now()";

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
export async function expireLinks(tx: Tx, limit: number): Promise<LinkRow[]> {
  const expired = await tx.query<LinkRow>(EXPIRE, [limit]);
  tx.report(expired.map(toEnded));
  return expired;
}

function toEnded(row: LinkRow): StateChange {
  return endedChange('payment_link', row, { rail: null, error_code: null });
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
