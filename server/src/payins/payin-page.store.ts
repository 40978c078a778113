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

const LATEST = statement(
  'payin-page.latest-of-link',
  `${PAGE} where p.organization_id = $1 and p.payment_link_id = $2 order by p.id desc limit 1`,
);

/** The latest attempt to pay a link. */
export function latestAttempt(
  tx: Tx,
  organizationId: string,
  paymentLinkId: string,
): Promise<PageRow | null> {
  return queryRow(tx, LATEST, [organizationId, paymentLinkId]);
}

const ATTACH_PAYER = statement(
  'payin-page.attach-payer',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set
     customer = $3, rail_task = 'open', rail_due_at = m.at, rail_sent_at = m.at,
     leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $4
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
  encryptedCustomer: Buffer,
  leaseToken: string,
): Promise<PayinRow | null> {
  return queryRow(tx, ATTACH_PAYER, [organizationId, id, encryptedCustomer, leaseToken]);
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

const WATCHED = statement(
  'payin-page.watched',
  `select p.status, p.pse_url is not null as opened, p.expires_at
   from ${ROW_IDS.numberedAs('w')}
   left join lateral (
     select p.status, p.pse_url, p.expires_at from caudal.payins p where p.organization_id = w.organization_id and p.id = w.id limit 1
   ) as p on true
   order by w.position`,
);

/** @returns the state of each payin in the given order; null for a payin that does not exist */
export async function watchedPayins(
  tx: Tx,
  payins: readonly RowId[],
): Promise<({ readonly status: string; readonly opened: boolean; readonly expiresAt: Date } | null)[]> {
  if (payins.length === 0) return [];
  const rows = await tx.query<{ status: string | null; opened: boolean; expires_at: Date }>(
    WATCHED,
    ROW_IDS.parameters(payins),
  );
  return rows.map(({ status, opened, expires_at: expiresAt }) =>
    status === null ? null : { status, opened, expiresAt },
  );
}
