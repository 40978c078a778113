-- Amounts of direct payins: the policy of each organization, and the acceptance of anomalies by merchants.

-- EXACT: only the requested amount confirms a direct payin. ANY: it is confirmed with the amount that arrives.
alter table caudal.organizations
  add column amount_policy text not null default 'EXACT'
    constraint organization_amount_policy check (amount_policy in ('EXACT', 'ANY'));

-- Not validated: no earlier row has this code, and a scan would hold the lock on every month.
alter table caudal.payins add constraint payin_underpaid check (
  error_code is distinct from 'UNDERPAID'
  or (status = 'DECLINED' and settlement_status is null
    and confirmed_amount_in_cents is not null and confirmed_amount_in_cents < amount_in_cents)
) not valid;

-- The merchants' role records an acceptance, the system role books it. Neither can do the other's part.
alter table caudal.anomalies
  add column accepted_at timestamptz,
  -- The API key that accepted it.
  add column accepted_by text,
  add constraint anomaly_accepted check (num_nonnulls(accepted_at, accepted_by) in (0, 2)),
  -- Only money that arrived for a payin can be accepted.
  add constraint anomaly_acceptable check (
    accepted_at is null or (payin_id is not null and amount_in_cents is not null and amount_in_cents > 0)
  ),
  -- An accepted anomaly ends by being credited for its acceptance; a return or any other decision of an operator
  -- excludes the acceptance, whichever commits first.
  add constraint anomaly_accept_excludes_resolve check (
    accepted_at is null or resolved_at is null or (resolution = 'credit' and resolved_by = accepted_by)
  );
create index anomalies_to_book on caudal.anomalies (accepted_at) where accepted_at is not null and resolved_at is null;

grant select, update (accepted_at, accepted_by) on caudal.anomalies to caudal_batch;
revoke update on caudal.anomalies from caudal_system;
grant update (resolved_at, resolution, resolved_by, note, return_payout_id) on caudal.anomalies to caudal_system;
