-- Rights of the server's roles: every role may write exactly the columns that its statements write, and the merchants' role
-- cannot confirm, settle, credit or release anything. server/src/db/rights.txt lists the result.

-- ── Who wrote a cause, and deposits as records of their own ──────────────────────────────────────────────────────────

-- No role may set it. Null: written before this migration.
alter table caudal.ledger_causes add column written_by text;
alter table caudal.ledger_causes alter column written_by set default current_user;
comment on column caudal.ledger_causes.written_by is 'The database role that posted the cause; `ledger verify` checks that it may.';

-- Money that an organization paid in outside the rails. Deposits before this migration have no row.
create table caudal.deposits (
  organization_id uuid not null references caudal.organizations,
  -- The id of its transfer.
  id              uuid not null,
  amount_in_cents bigint not null constraint deposit_amount check (amount_in_cents > 0),
  reference       text collate "C" not null,
  at              timestamptz not null,
  primary key (organization_id, id),
  constraint deposit_once unique (organization_id, reference)
);
call caudal.protect('caudal.deposits');

-- ── Grants ───────────────────────────────────────────────────────────────────────────────────────────────────────────

revoke all on all tables in schema caudal from caudal_read, caudal_batch, caudal_system;

grant select on caudal.deployment, caudal.id_clock, caudal.clock_steps to caudal_read, caudal_batch, caudal_system;
grant select on caudal.monthly_tables to caudal_system;
grant select, update (written_at) on caudal.write_probe to caudal_system;

-- Organizations and credentials. The number is the last part of the organization's references at the rails.
grant select (id, suspended_at) on caudal.organizations to caudal_read;
grant select (id, number, suspended_at) on caudal.organizations to caudal_batch;
grant select,
  insert (id, name, accent, support_contact, rails, city, postal_code, merchant_category, is_operator, amount_policy, legal_name, tax_id),
  update (name, accent, support_contact, rails, amount_policy, legal_name, tax_id, verified_at, writes_per_second, reads_per_second,
    suspended_at, suspended_by, suspension_reason, updated_at)
  on caudal.organizations to caudal_system;
grant select, insert (organization_id, wrapped_key, master_key_id), update (wrapped_key, master_key_id)
  on caudal.organization_keys to caudal_system;
grant select, insert (organization_id, id, preview, header, icon), update (id, preview, header, icon, created_at), delete
  on caudal.organization_logos to caudal_system;
grant select, insert (id, organization_id, name, mac, scopes, expires_at), update (mac, revoked_at, last_used_at)
  on caudal.api_keys to caudal_system;
grant select, insert (id, organization_id, api_key_id, mac, scopes, expires_at), delete on caudal.access_tokens to caudal_system;
grant select, insert (organization_id), delete on caudal.credential_changes to caudal_system;
grant select, insert (rail, organization_id, reason, paused_by), update (reason, paused_by), delete on caudal.rail_pauses to caudal_system;
grant select, insert (organization_id, operator, action, phase, resource, details, note) on caudal.operator_actions to caudal_system;

-- Idempotency keys and references.
grant select on caudal.resource_references to caudal_read, caudal_system;
grant select, insert (organization_id, kind, reference, resource_id), update (repeats), delete on caudal.resource_references to caudal_batch;
grant select, insert (organization_id, key_hash, body_hash, resource_id, created_at), update (repeats), delete
  on caudal.idempotency_keys to caudal_batch;
grant select, delete on caudal.idempotency_keys to caudal_system;

-- Payins.
grant select on caudal.payins, caudal.pse_banks to caudal_read;
grant select,
  insert (organization_id, id, amount_in_cents, currency, rail, status, reference, payment_link_id, customer, metadata, callback_url,
    breb_key_type, breb_key, pse_bank, pse_person_type, created_at, updated_at, expires_at, rail_task, rail_due_at, rail_sent_at,
    leased_until, lease_token),
  update (status, customer, pse_url, pse_url_at, pse_transaction_id, pse_cus, updated_at, expires_at, rail_task, rail_due_at,
    rail_sent_at, rail_attempts, leased_until, lease_token)
  on caudal.payins to caudal_batch;
grant select,
  update (status, confirmed_amount_in_cents, earlier_parts_in_cents, error_code, end_to_end_id, updated_at, expires_at, result_at,
    payment_execution_id, payment_verified_at, settlement_status, settles_at, settlement_id, settlement_released_at, rail_task,
    rail_due_at, rail_sent_at, rail_attempts, leased_until, lease_token)
  on caudal.payins to caudal_system;
grant insert (organization_id, payin_id, from_status, to_status, cause, at) on caudal.payin_history to caudal_batch;
grant select, insert (organization_id, payin_id, from_status, to_status, cause, at) on caudal.payin_history to caudal_system;
grant select, insert (key, organization_id, payin_id, minted_at, register_due_at, leased_until, lease_token),
  update (leased_until, lease_token) on caudal.breb_keys to caudal_batch;
grant select, update (register_due_at, attempts, leased_until, lease_token, registered_at, refusal) on caudal.breb_keys to caudal_system;
grant select, insert (network_code, name, seen_at), update (name, seen_at) on caudal.pse_banks to caudal_system;
grant insert (organization_id, payin_id, text_id, at, evidence) on caudal.payer_authorizations to caudal_batch;
grant select on caudal.payer_authorizations to caudal_system;
grant insert (organization_id, id, rail, about, notice_id, reference, kind, execution_id, end_to_end_id, amount_in_cents, error_code,
  raw, received_at, task, due_at) on caudal.rail_notices to caudal_batch, caudal_system;
grant select, update (task, due_at, attempts, leased_until, lease_token, outcome) on caudal.rail_notices to caudal_system;

-- Payouts.
grant select on caudal.payouts to caudal_read;
grant select,
  insert (organization_id, id, amount_in_cents, currency, rail, status, error_code, reference, customer, metadata, receiver,
    receiver_index, lookup_id, resolution_id, resolved_at, holder, end_to_end_id, anomaly_id, anomaly_organization_id, created_at,
    updated_at, result_at, rail_task, rail_due_at)
  on caudal.payouts to caudal_batch, caudal_system;
grant update (status, updated_at, result_at, rail_task, rail_due_at, leased_until, lease_token) on caudal.payouts to caudal_batch;
grant update (status, error_code, execution_id, updated_at, result_at, resolution_id, resolved_at, rail_task, rail_due_at, attempts,
  polls, rail_status, first_sent_at, last_sent_at, leased_until, lease_token) on caudal.payouts to caudal_system;
grant insert (organization_id, payout_id, from_status, to_status, cause, at) on caudal.payout_history to caudal_batch, caudal_system;
grant select on caudal.payout_history to caudal_system;
grant select, insert (organization_id, payout_id, number, at), update (answer, answered_at, error_code, reason)
  on caudal.payout_attempts to caudal_system;
grant select, insert (rail, execution_id, organization_id, payout_id) on caudal.payout_executions to caudal_system;
grant select, insert (organization_id, id, receiver_index, resolution_id, holder, resolved_at, expires_at) on caudal.breb_lookups to caudal_batch;
grant select, update (used_at), delete on caudal.breb_lookups to caudal_system;
grant select, insert (organization_id, lookups, misses, filled_at), update (lookups, misses, filled_at) on caudal.lookup_buckets to caudal_batch;
grant select, update (lookups, misses, filled_at) on caudal.lookup_buckets to caudal_system;

-- Payment links.
grant select on caudal.payment_links to caudal_read;
grant select,
  insert (organization_id, id, amount_in_cents, currency, reference, description, callback_url, rail, pse_bank, customer, metadata,
    status, created_at, updated_at, expires_at, closes_at),
  update (open_breb_payin_id, open_pse_payin_id, closes_at)
  on caudal.payment_links to caudal_batch;
grant select, update (status, updated_at, open_breb_payin_id, open_pse_payin_id, paid_in_cents, completed_at, payin_id)
  on caudal.payment_links to caudal_system;

-- Ledger.
grant select on caudal.ledger_balances, caudal.ledger_transfers, caudal.anomalies to caudal_read;
grant select, update (balance_in_cents, updated_at) on caudal.ledger_balances to caudal_batch;
grant select, insert (organization_id, account, updated_at), update (balance_in_cents, updated_at) on caudal.ledger_balances to caudal_system;
grant select, insert (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at)
  on caudal.ledger_transfers to caudal_batch, caudal_system;
grant select, insert (kind, id, organization_id, transfer_id) on caudal.ledger_causes to caudal_batch, caudal_system;
grant select, insert (account, through, debits_in_cents, credits_in_cents) on caudal.ledger_subtotals to caudal_system;
grant select, insert (organization_id, id, amount_in_cents, payins, at) on caudal.settlements to caudal_system;
grant select, insert (organization_id, id, amount_in_cents, reference, at) on caudal.deposits to caudal_system;
grant select, update (accepted_at, accepted_by) on caudal.anomalies to caudal_batch;
grant select,
  insert (organization_id, id, payin_id, payout_id, rail, kind, reference, execution_id, amount_in_cents, noticed_at, once),
  update (resolved_at, resolution, resolved_by, note, return_payout_id, reversals, posting_due_at)
  on caudal.anomalies to caudal_system;

-- Events and webhooks.
grant select on caudal.events, caudal.final_events, caudal.webhook_queues, caudal.webhook_deliveries, caudal.webhook_attempts to caudal_read;
-- Not the secrets, which only the sender and their rotation need.
grant select (organization_id, id, address, events, description, static_header, status, disabled_reason, created_at, updated_at, deleted_at)
  on caudal.webhook_endpoints to caudal_read;
grant select, insert (organization_id, id, event, resource, resource_id, payload, created_at, undispatched)
  on caudal.events to caudal_batch, caudal_system;
grant update (undispatched) on caudal.events to caudal_system;
grant insert (organization_id, resource_id, event_id, event) on caudal.final_events to caudal_batch, caudal_system;
grant select on caudal.final_events to caudal_system;
grant select,
  insert (organization_id, id, address, events, description, static_header, secret, status, created_at, updated_at),
  update (address, events, description, static_header, secret, previous_secret, previous_until, older_secret, older_until, status,
    disabled_reason, created_as, updated_at, deleted_at)
  on caudal.webhook_endpoints to caudal_batch;
grant select, update (status, disabled_reason, updated_at) on caudal.webhook_endpoints to caudal_system;
grant select, insert (organization_id, endpoint_id), update (open, due_at, rest_until, backlogged, failures, failing_since)
  on caudal.webhook_queues to caudal_batch;
grant select, update (open, due_at, rest_until, backlogged, failures, failing_since, leased_until, lease_token)
  on caudal.webhook_queues to caudal_system;
grant select, insert (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
  on caudal.webhook_deliveries to caudal_batch, caudal_system;
grant update (status, replays, attempts_before, next_attempt_at, give_up_at, ended_at) on caudal.webhook_deliveries to caudal_batch;
grant update (status, attempts, next_attempt_at, ended_at) on caudal.webhook_deliveries to caudal_system;
grant select, insert (organization_id, endpoint_id, event_id, number, at, status_code, duration_ms, error, answer)
  on caudal.webhook_attempts to caudal_system;

-- Receipts.
grant select on caudal.receipts to caudal_read, caudal_system;
grant select, insert (organization_id, payin_id, code, issued_at) on caudal.receipts to caudal_batch;
grant select, insert (organization_id, id, payin_id, address, language, created_at, due_at) on caudal.receipt_emails to caudal_batch;
grant select, update (address, due_at, attempts, leased_until, lease_token, sent_at), delete on caudal.receipt_emails to caudal_system;

-- ── Values that the merchants' role may write ────────────────────────────────────────────────────────────────────────

-- A reservation is released by the transaction that made it. Business time may be shifted in between, except in production.
create policy merchants_release on caudal.idempotency_keys as restrictive for delete to caudal_batch using (
  created_at > (select caudal.now() - interval '5 minutes')
  or (select d.shifted_at > clock_timestamp() - interval '5 minutes' from caudal.deployment d)
);
create policy merchants_release on caudal.resource_references as restrictive for delete to caudal_batch using (
  resource_id > (select caudal.uuid_floor(caudal.now() - interval '5 minutes'))
  or (select d.shifted_at > clock_timestamp() - interval '5 minutes' from caudal.deployment d)
);

-- It creates payins and opens their pages. The outcome is written by the system role.
create policy merchants_create on caudal.payins as restrictive for insert to caudal_batch
  with check (status = case rail when 'BRE_B' then 'PROCESSING' else 'PENDING' end);
create policy merchants_open on caudal.payins as restrictive for update to caudal_batch
  using (status in ('PENDING', 'PROCESSING'))
  with check (status = case when rail = 'BRE_B' or pse_url is not null then 'PROCESSING' else 'PENDING' end);
create policy merchants_open on caudal.payin_history as restrictive for insert to caudal_batch with check (
  (from_status = 'NONE' and to_status in ('PENDING', 'PROCESSING')) or (from_status = 'PENDING' and to_status = 'PROCESSING')
);

-- The rejection of an order of the same organization; never a payment. The reference ends with the organization's number.
create policy merchants_reject on caudal.rail_notices as restrictive for insert to caudal_batch with check (
  kind = 'refused' and rail = 'PSE' and about = 'payin' and task = 'apply'
  and num_nonnulls(notice_id, execution_id, end_to_end_id, amount_in_cents, raw) = 0
  and length(reference) = 32
  and right(reference, 6) = (
    select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((o.number >> (5 * digit)) & 31) + 1, 1), '' order by digit desc)
    from caudal.organizations o, generate_series(0, 5) as digit where o.id = rail_notices.organization_id
  )
);

-- Its payouts are new, declined on creation, or canceled before the first attempt; returns belong to the system role.
drop policy merchants_create on caudal.payouts;
drop policy merchants_cancel on caudal.payouts;
create policy merchants_create on caudal.payouts as restrictive for insert to caudal_batch
  with check (attempts = 0 and status in ('PROCESSING', 'DECLINED') and anomaly_id is null);
create policy merchants_cancel on caudal.payouts as restrictive for update to caudal_batch
  using (true) with check (attempts = 0 and status = 'CANCELED' and execution_id is null);
create policy merchants_end on caudal.payout_history as restrictive for insert to caudal_batch
  with check (to_status in ('PROCESSING', 'DECLINED', 'CANCELED'));

create policy merchants_create on caudal.payment_links as restrictive for insert to caudal_batch with check (status = 'PENDING');

-- A payout's hold, and its release after a cancellation.
create policy merchants_hold on caudal.ledger_balances as restrictive for update to caudal_batch
  using (true) with check (account in ('available', 'held'));
create policy merchants_hold on caudal.ledger_causes as restrictive for insert to caudal_batch with check (
  kind = 'payout_hold'
  or (kind = 'payout_release' and exists (
    select from caudal.payouts p
    where p.organization_id = ledger_causes.organization_id and p.id = ledger_causes.id::uuid and p.status = 'CANCELED'))
);
create policy merchants_hold on caudal.ledger_transfers as restrictive for insert to caudal_batch with check (
  cause_id = resource_id::text
  and ((cause_kind = 'payout_hold' and debit_account = 'available' and credit_account = 'held')
    or (cause_kind = 'payout_release' and debit_account = 'held' and credit_account = 'available'))
);

create policy merchants_accept on caudal.anomalies as restrictive for update to caudal_batch
  using (true) with check (accepted_at is not null and resolved_at is null);

-- The events of payouts that it declined or canceled, and test events.
create policy merchants_end on caudal.events as restrictive for insert to caudal_batch with check (
  (resource = 'webhook' and event = 'webhook.test' and not undispatched)
  or (resource = 'payout' and event in ('payout.declined', 'payout.canceled') and exists (
    select from caudal.payouts p where p.organization_id = events.organization_id and p.id = events.resource_id
      and p.status = upper(split_part(events.event, '.', 2))))
);
create policy merchants_end on caudal.final_events as restrictive for insert to caudal_batch with check (
  event in ('payout.declined', 'payout.canceled') and exists (
    select from caudal.payouts p where p.organization_id = final_events.organization_id and p.id = final_events.resource_id
      and p.status = upper(split_part(final_events.event, '.', 2)))
);

-- It schedules deliveries; their results are written by the sender.
create policy merchants_schedule on caudal.webhook_deliveries as restrictive for insert to caudal_batch with check (status = 'PENDING');
create policy merchants_replay on caudal.webhook_deliveries as restrictive for update to caudal_batch
  using (true) with check (status = 'PENDING');

-- ── Changes that depend on the previous value ────────────────────────────────────────────────────────────────────────

create function caudal.reject_merchant_change() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'the merchants'' role may not make this change of caudal.%', tg_argv[0] using errcode = 'insufficient_privilege';
end $$;
revoke execute on function caudal.reject_merchant_change() from public;

-- Expiry is only brought forward; payer and bank page are set once.
create trigger merchants_set_once before update on caudal.payins for each row
  when (current_user = 'caudal_batch' and (
    new.expires_at > old.expires_at
    or (old.customer is not null and new.customer is distinct from old.customer)
    or (old.pse_url is not null
      and (new.pse_url, new.pse_transaction_id, new.pse_cus) is distinct from (old.pse_url, old.pse_transaction_id, old.pse_cus))))
  execute function caudal.reject_merchant_change('payins');
create trigger merchants_set_once before update on caudal.payment_links for each row
  when (current_user = 'caudal_batch' and (
    new.closes_at > old.closes_at
    or (old.open_breb_payin_id is not null and new.open_breb_payin_id is distinct from old.open_breb_payin_id)
    or (old.open_pse_payin_id is not null and new.open_pse_payin_id is distinct from old.open_pse_payin_id)))
  execute function caudal.reject_merchant_change('payment_links');
create trigger merchants_set_once before update on caudal.anomalies for each row
  when (current_user = 'caudal_batch' and old.accepted_at is not null)
  execute function caudal.reject_merchant_change('anomalies');

-- ── Postings of the merchants' role ──────────────────────────────────────────────────────────────────────────────────

-- A transfer needs its cause, which can be used once, and a release needs the canceled payout with its amount. Runs at the end
-- of the statement, which inserts causes and transfers together.
create function caudal.check_merchant_transfers() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  if exists (
    select from added t
    where t.id is distinct from (
        select c.transfer_id from caudal.ledger_causes c
        where c.kind = t.cause_kind and c.id = t.cause_id and c.organization_id = t.organization_id)
      or (t.cause_kind = 'payout_release' and t.amount_in_cents is distinct from (
        select p.amount_in_cents from caudal.payouts p
        where p.organization_id = t.organization_id and p.id = t.resource_id and p.status = 'CANCELED'))
  ) then
    raise exception 'a transfer of the merchants'' role has no cause or no canceled payout' using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;
create trigger merchants_post after insert on caudal.ledger_transfers referencing new table as added for each statement
  when (current_user = 'caudal_batch') execute function caudal.check_merchant_transfers();

-- A payout under way has held its amount when its transaction commits. Earlier versions insert payouts before their holds. One
-- row per statement, because a deferred trigger per payout costs several times as much. The merchants' role writes it itself
-- and may delete it: the queued check still runs, and runs as the role that sees the causes of its organizations. It reads the
-- transfer by its id, which the cause names: a join may be planned, while the tables are small, to read all transfers per payout.
create unlogged table caudal.merchant_payouts (
  transaction_id   xid8 not null,
  owner_ids        uuid[] not null,
  payout_ids       uuid[] not null,
  amounts_in_cents bigint[] not null
);
create index merchant_payouts_of_transaction on caudal.merchant_payouts (transaction_id);
grant select, insert (transaction_id, owner_ids, payout_ids, amounts_in_cents), delete on caudal.merchant_payouts to caudal_batch;

create function caudal.record_merchant_payouts() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  insert into caudal.merchant_payouts (transaction_id, owner_ids, payout_ids, amounts_in_cents)
  select pg_current_xact_id(), array_agg(p.organization_id), array_agg(p.id), array_agg(p.amount_in_cents)
  from added p where p.status = 'PROCESSING'
  having count(*) > 0;
  return null;
end $$;
create trigger merchants_record after insert on caudal.payouts referencing new table as added for each statement
  when (current_user = 'caudal_batch') execute function caudal.record_merchant_payouts();

create function caudal.check_merchant_holds() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  if exists (
    select from unnest(new.owner_ids, new.payout_ids, new.amounts_in_cents) as p (organization_id, id, amount_in_cents)
    where p.amount_in_cents is distinct from (
      select t.amount_in_cents from caudal.ledger_transfers t
      where t.organization_id = p.organization_id and t.cause_kind = 'payout_hold' and t.cause_id = p.id::text
        and t.id = (
          select c.transfer_id from caudal.ledger_causes c
          where c.kind = 'payout_hold' and c.id = p.id::text and c.organization_id = p.organization_id))
  ) then
    raise exception 'a payout was created without holding its amount' using errcode = 'insufficient_privilege';
  end if;
  delete from caudal.merchant_payouts where transaction_id = new.transaction_id;
  return null;
end $$;
create constraint trigger merchants_hold after insert on caudal.merchant_payouts deferrable initially deferred for each row
  execute function caudal.check_merchant_holds();

-- What the merchants' role posted, and how it changed balances, in the open transaction; compared and deleted when it commits.
-- No role has a right to it: the functions that write it run as the owner. It has no row-level security, because the owner is
-- subject to it too, and is not logged, because no row outlives its transaction.
create unlogged table caudal.merchant_changes (
  transaction_id   xid8 not null,
  owner_ids        uuid[] not null,
  accounts         text[] not null,
  -- Of transfers; those of balances are negated, so that both add up to zero.
  amounts_in_cents bigint[] not null
);
create index merchant_changes_of_transaction on caudal.merchant_changes (transaction_id);

create function caudal.record_merchant_transfers() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  insert into caudal.merchant_changes (transaction_id, owner_ids, accounts, amounts_in_cents)
  select pg_current_xact_id(), array_agg(organization_id), array_agg(account), array_agg(amount)
  from (
    select t.organization_id, side.account, sum(side.amount)::bigint as amount
    from added t cross join lateral (values (t.credit_account, t.amount_in_cents), (t.debit_account, -t.amount_in_cents)) as side (account, amount)
    group by t.organization_id, side.account
  ) as change having count(*) > 0;
  return null;
end $$;
create trigger merchants_record after insert on caudal.ledger_transfers referencing new table as added for each statement
  when (current_user = 'caudal_batch') execute function caudal.record_merchant_transfers();

create function caudal.record_merchant_balances() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  insert into caudal.merchant_changes (transaction_id, owner_ids, accounts, amounts_in_cents)
  select pg_current_xact_id(), array_agg(n.organization_id), array_agg(n.account), array_agg(o.balance_in_cents - n.balance_in_cents)
  from changed n join previous o on o.organization_id = n.organization_id and o.account = n.account
  where n.balance_in_cents <> o.balance_in_cents
  having count(*) > 0;
  return null;
end $$;
create trigger merchants_record after update on caudal.ledger_balances referencing old table as previous new table as changed
  for each statement when (current_user = 'caudal_batch') execute function caudal.record_merchant_balances();

create function caudal.check_merchant_balances() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  if exists (
    select from caudal.merchant_changes m
    cross join lateral unnest(m.owner_ids, m.accounts, m.amounts_in_cents) as change (owner_id, account, amount)
    where m.transaction_id = new.transaction_id
    group by change.owner_id, change.account having sum(change.amount) <> 0
  ) then
    raise exception 'the balances were not changed by the posted transfers' using errcode = 'insufficient_privilege';
  end if;
  delete from caudal.merchant_changes where transaction_id = new.transaction_id;
  return null;
end $$;
create constraint trigger zero_difference after insert on caudal.merchant_changes deferrable initially deferred for each row
  execute function caudal.check_merchant_balances();

revoke execute on function caudal.check_merchant_transfers(), caudal.record_merchant_payouts(), caudal.check_merchant_holds(), caudal.record_merchant_transfers(),
  caudal.record_merchant_balances(), caudal.check_merchant_balances() from public;
