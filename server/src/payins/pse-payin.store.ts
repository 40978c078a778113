import { milliseconds, nullable, ROW_ID, type RowId, text, uuid } from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import { FIRST_POLL_SECONDS } from './payin.polling.ts';
import { statesBefore } from './payin.states.ts';
import { PAYIN_LIST, type PayinRow } from './payin.store.ts';

const LEASE_DUE = statement(
  'pse-payin.lease',
  `with due as (
     select organization_id, id, rail_sent_at from caudal.payins
     where rail = 'PSE' and rail_task = 'open' and rail_due_at <= caudal.now()
       and (leased_until is null or leased_until < clock_timestamp())
       and (expires_at <= caudal.now() or not $4 and organization_id <> all ($3::uuid[]))
     order by rail_due_at limit $2 for update skip locked
   )
   update caudal.payins p set
     leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1,
     rail_sent_at = case when expires_at > caudal.now() then caudal.now() else p.rail_sent_at end
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning ${PAYIN_LIST}, p.rail_attempts, p.expires_at <= caudal.now() as expired,
     (select o.number from caudal.organizations o where o.id = p.organization_id) as organization_number,
     (select o.name from caudal.organizations o where o.id = p.organization_id) as organization_name,
     (select l.description from caudal.payment_links l
      where l.organization_id = p.organization_id and l.id = p.payment_link_id) as link_description,
     (extract(epoch from caudal.now() - due.rail_sent_at) * 1000)::float8 as sent_ms_ago`,
);

export interface DuePsePayin extends PayinRow {
  rail_attempts: number;
  /** The payin can no longer be paid, so it is not opened at the rail. */
  expired: boolean;
  organization_number: number;
  organization_name: string;
  /** Null: no link, or a link without a description. */
  link_description: string | null;
  /** Since the last time an order may have been sent to the rail; null when none was. */
  sent_ms_ago: number | null;
}

/**
 * Leases up to `limit` PSE payins that have no bank page and are not leased.
 * @param excludedOrganizations organizations whose rail is paused: only their expired payins are leased
 * @param onlyExpired lease expired payins only, because nothing can be opened now
 */
export function leaseDuePsePayins(
  tx: Tx,
  leaseToken: string,
  limit: number,
  excludedOrganizations: readonly string[],
  onlyExpired: boolean,
): Promise<DuePsePayin[]> {
  return tx.query<DuePsePayin>(LEASE_DUE, [leaseToken, limit, excludedOrganizations, onlyExpired]);
}

/**
 * The result of requesting a bank page from PSE: the page; a rejection (stored as a notice and applied like the others);
 * an unknown outcome with the delay before the retry; an expired payin, which is only polled for its end; or an order that
 * was certainly never sent and is not retried: the payin ends without a poll.
 */
export type PageResult = RowId & { readonly leaseToken: string } & (
    | {
        readonly kind: 'page';
        readonly url: string;
        readonly transactionId: string | null;
        readonly cus: string | null;
      }
    | { readonly kind: 'refused' }
    | { readonly kind: 'unknown'; readonly retryAfterMs: number }
    | { readonly kind: 'expired' }
    | { readonly kind: 'never_sent' }
  );

const RESULTS = new RowSet({
  lease_token: uuid,
  ...ROW_ID,
  kind: text(),
  url: nullable(text()),
  transaction_id: nullable(text()),
  cus: nullable(text()),
  retry_after_ms: nullable(milliseconds),
});
const NO_PAGE = { url: null, transactionId: null, cus: null, retryAfterMs: null };

const RECORD = statement(
  'pse-payin.record',
  `with moment as materialized (select caudal.now() as at),
   result as (
     select * from ${RESULTS.as('r')}
   ),
   held as (
     select p.organization_id, p.id from caudal.payins p join result r on p.organization_id = r.organization_id and p.id = r.id
     where p.status in (${statesBefore('PROCESSING')}) and p.lease_token = r.lease_token
     order by p.organization_id, p.id for update of p
   ),
   recorded as (
     update caudal.payins p set
       status = case r.kind when 'page' then 'PROCESSING' else p.status end,
       updated_at = case r.kind when 'page' then moment.at else p.updated_at end,
       pse_url = r.url, pse_url_at = case r.kind when 'page' then moment.at end,
       pse_transaction_id = r.transaction_id, pse_cus = r.cus,
       rail_sent_at = case r.kind when 'never_sent' then null else p.rail_sent_at end,
       expires_at = case r.kind when 'never_sent' then least(p.expires_at, moment.at) else p.expires_at end,
       rail_task = case r.kind when 'unknown' then 'open' when 'never_sent' then 'close' else 'poll' end,
       rail_due_at = case r.kind
         when 'unknown' then moment.at + make_interval(secs => r.retry_after_ms / 1000.0)
         when 'expired' then moment.at
         when 'never_sent' then moment.at
         else p.created_at + interval '${FIRST_POLL_SECONDS.PSE} seconds' end,
       rail_attempts = case r.kind when 'unknown' then least(p.rail_attempts + 1, 32000) else 0 end,
       leased_until = null, lease_token = null
     from moment, result r, held h
     where p.organization_id = h.organization_id and p.id = h.id and r.organization_id = h.organization_id and r.id = h.id
     returning ${PAYIN_LIST}
   ),
   history as (
     insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
     select organization_id, id, 'PENDING', 'PROCESSING', 'bank_page_known', updated_at from recorded where status = 'PROCESSING'
   )
   select * from recorded`,
);

/** Records the results whose lease is still held. @returns the updated payins */
export function recordPages(tx: Tx, results: readonly PageResult[]): Promise<PayinRow[]> {
  const rows = results.map((result) => ({ ...NO_PAGE, ...result }));
  return tx.query<PayinRow>(RECORD, RESULTS.parameters(rows));
}
