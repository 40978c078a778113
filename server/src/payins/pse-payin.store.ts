import { statement, type Tx } from '../db/tx.ts';
import type { RailErrorCode } from '../rails/contract.ts';
import { statesBefore } from './payin.states.ts';
import { CLAIM, PAYIN_COLUMNS, type PayinRow } from './payin.store.ts';

const CLAIM_DUE = statement(
  'pse-payin.claim',
  `with due as (
     select organization_id, id, rail_sent_at from caudal.payins
     where rail = 'PSE' and rail_task = 'open' and rail_due_at <= caudal.now()
       and (claimed_until is null or claimed_until < clock_timestamp())
     order by rail_due_at limit $2 for update skip locked
   )
   update caudal.payins p set
     claimed_until = clock_timestamp() + ${CLAIM}, claim_token = $1,
     rail_sent_at = case when expires_at > caudal.now() then caudal.now() else p.rail_sent_at end
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning ${PAYIN_COLUMNS}, p.rail_attempts, p.expires_at <= caudal.now() as expired,
     (select o.number from caudal.organizations o where o.id = p.organization_id) as organization_number,
     (extract(epoch from caudal.now() - due.rail_sent_at) * 1000)::float8 as sent_ms_ago`,
);

export interface DuePsePayin extends PayinRow {
  rail_attempts: number;
  /** It can no longer be paid, so it is no longer to be opened. */
  expired: boolean;
  organization_number: number;
  /** Since an order may last have left for the rail; null when none has. */
  sent_ms_ago: number | null;
}

/** Takes up to `most` PSE payins that still have no bank page and nobody at them. */
export function claimDuePsePayins(tx: Tx, claimToken: string, most: number): Promise<DuePsePayin[]> {
  return tx.query<DuePsePayin>(CLAIM_DUE, [claimToken, most]);
}

/** What came of asking PSE for a bank page: it, a refusal, or neither and the wait before the next attempt. */
export type PageResult = {
  readonly organizationId: string;
  readonly id: string;
  readonly claimToken: string;
} & (
  | {
      readonly kind: 'page';
      readonly url: string;
      readonly transactionId: string | null;
      readonly cus: string | null;
    }
  | { readonly kind: 'refused'; readonly errorCode: RailErrorCode }
  | { readonly kind: 'unknown'; readonly retryAfterMs: number }
);

const RECORD = statement(
  'pse-payin.record',
  `with result as (
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[])
       as r (claim_token, organization_id, id, url, transaction_id, cus, error_code, retry_after_ms)
   ),
   held as (
     select p.organization_id, p.id from caudal.payins p join result r on p.organization_id = r.organization_id and p.id = r.id
     where p.status in (${statesBefore('PROCESSING')}) and p.claim_token = r.claim_token
     order by p.organization_id, p.id for update of p
   ),
   moved as (
     update caudal.payins p set
       status = case when r.url is not null then 'PROCESSING' when r.error_code is not null then 'DECLINED' else p.status end,
       error_code = r.error_code,
       result_at = case when r.error_code is not null then caudal.now() end,
       pse_url = r.url, pse_url_at = case when r.url is not null then caudal.now() end,
       pse_transaction_id = r.transaction_id, pse_cus = r.cus,
       updated_at = case when r.retry_after_ms is null then caudal.now() else p.updated_at end,
       rail_task = case when r.retry_after_ms is not null then 'open' end,
       rail_due_at = case when r.retry_after_ms is not null then caudal.now() + make_interval(secs => r.retry_after_ms / 1000.0) end,
       rail_attempts = least(p.rail_attempts + 1, 32000),
       claimed_until = null, claim_token = null
     from result r, held h
     where p.organization_id = h.organization_id and p.id = h.id and r.organization_id = h.organization_id and r.id = h.id
     returning ${PAYIN_COLUMNS}
   ),
   history as (
     insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
     select organization_id, id, 'PENDING', status, case status when 'PROCESSING' then 'bank page known' else 'refused by the rail' end, updated_at
     from moved where status <> 'PENDING'
   )
   select * from moved`,
);

/** Records results whose claim still holds; answers the payins that were changed, as they are now. */
export function recordPages(tx: Tx, results: readonly PageResult[]): Promise<PayinRow[]> {
  return tx.query<PayinRow>(RECORD, [
    results.map((result) => result.claimToken),
    results.map((result) => result.organizationId),
    results.map((result) => result.id),
    results.map((result) => (result.kind === 'page' ? result.url : null)),
    results.map((result) => (result.kind === 'page' ? result.transactionId : null)),
    results.map((result) => (result.kind === 'page' ? result.cus : null)),
    results.map((result) => (result.kind === 'refused' ? result.errorCode : null)),
    results.map((result) => (result.kind === 'unknown' ? result.retryAfterMs : null)),
  ]);
}
