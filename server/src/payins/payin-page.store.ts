import { type RowId } from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { queryRow, ROW_IDS } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import { statesBefore } from './payin.states.ts';
import { PAYIN_LIST, type PayinRow } from './payin.store.ts';

/** A payin with the additional data of its payer's page. */
export interface PageRow extends PayinRow {
  now: Date;
}

const PAGE = `select ${PAYIN_LIST}, caudal.now() as now from caudal.payins p`;

const FIND = statement('payin-page.find', `${PAGE} where p.organization_id = $1 and p.id = $2`);

export function findPagePayin(tx: Tx, organizationId: string, id: string): Promise<PageRow | null> {
  return queryRow(tx, FIND, [organizationId, id]);
}

/** Attempts per link are rate-limited, and a link lives an hour: more are not expected. */
const MAX_ATTEMPTS = 200;

const OF_LINK = statement(
  'payin-page.of-link',
  `${PAGE} where p.organization_id = $1 and p.payment_link_id = $2 order by p.id desc limit ${MAX_ATTEMPTS}`,
);

/** The attempts to pay a link, newest first. */
export function attemptsOfLink(tx: Tx, organizationId: string, paymentLinkId: string): Promise<PageRow[]> {
  return tx.query<PageRow>(OF_LINK, [organizationId, paymentLinkId]);
}

const ATTACH_PAYER = statement(
  'payin-page.attach-payer',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set
     customer = $3, customer_index = $4, rail_task = 'open', rail_due_at = m.at, rail_sent_at = m.at,
     leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $5
   from moment m
   where p.organization_id = $1 and p.id = $2 and p.rail = 'PSE' and p.customer is null and p.expires_at > m.at
     and p.status in (${statesBefore('PROCESSING')})
   returning ${PAYIN_LIST}`,
);

/**
 * Attaches the payer to a PSE payin that was created without one. The caller gets the lease and requests the bank page.
 * @returns null when the payin already has a payer, is final, or has expired
 */
export function insertPayer(
  tx: Tx,
  { organizationId, id }: RowId,
  payer: { readonly encryptedCustomer: Buffer; readonly customerIndex: Buffer | null },
  leaseToken: string,
): Promise<PayinRow | null> {
  return queryRow(tx, ATTACH_PAYER, [
    organizationId,
    id,
    payer.encryptedCustomer,
    payer.customerIndex,
    leaseToken,
  ]);
}

const POLL_SOON = statement(
  'payin-page.poll-soon',
  `update caudal.payins p set rail_due_at = caudal.now()
   where p.organization_id = $1 and p.id = $2 and p.rail = 'PSE' and p.status = 'PROCESSING' and p.rail_task = 'poll'
     and p.rail_due_at > caudal.now()`,
);

/** Polls the rail immediately instead of on schedule: the payer has returned from the bank. */
export async function pollSoon(tx: Tx, { organizationId, id }: RowId): Promise<void> {
  await tx.query(POLL_SOON, [organizationId, id]);
}

/** Everything that a payer's page shows: for an attempt of a link, also the link and its other attempts. */
const PAGE_STATE = `
  p.status, p.pse_url is not null, extract(epoch from p.expires_at),
  (select concat_ws(' ', l.status, l.paid_in_cents, l.open_breb_payin_id, l.open_pse_payin_id)
   from caudal.payment_links l where l.organization_id = p.organization_id and l.id = p.payment_link_id),
  (select string_agg(concat_ws(' ', o.status, o.pse_url is not null, extract(epoch from o.expires_at)), ',' order by o.id)
   from caudal.payins o where o.organization_id = p.organization_id and o.payment_link_id = p.payment_link_id),
  (select string_agg((
     select string_agg(concat_ws(' ', a.id, a.resolution), ',' order by a.id) from caudal.anomalies a
     where a.organization_id = p.organization_id and a.payin_id = attempt.id and a.amount_in_cents is not null
   ), ',' order by attempt.id)
   from (
     select p.id
     union select o.id from caudal.payins o where o.organization_id = p.organization_id and o.payment_link_id = p.payment_link_id
   ) as attempt)`;

const STAMPS = statement(
  'payin-page.stamps',
  `select (
     select md5(concat_ws(';', ${PAGE_STATE})) from caudal.payins p
     where p.organization_id = w.organization_id and p.id = w.id limit 1
   ) as stamp
   from ${ROW_IDS.numberedAs('w')}
   order by w.position`,
);

/**
 * @returns for each payin, in the given order, a string that changes whenever the page of its payer must change; null for a
 *   payin that does not exist
 */
export async function readPageStamps(tx: Tx, payins: readonly RowId[]): Promise<(string | null)[]> {
  if (payins.length === 0) return [];
  const rows = await tx.query<{ stamp: string | null }>(STAMPS, ROW_IDS.parameters(payins));
  return rows.map(({ stamp }) => stamp);
}
