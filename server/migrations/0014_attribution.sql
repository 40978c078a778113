-- Attribution: who created each resource and caused each transfer, and from which networks an API key is used.

-- ── Creators ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- `key:<API key id>` for a merchant's request, `payer` for an attempt that a payer started on a checkout page,
-- `operator:<name>` for an operator command, `system` for a worker. Null for rows of earlier versions, which also still
-- write during a rolling update. The constraints are not validated, because that would read every row under a lock: the
-- column is null in all of them.
alter table caudal.payins add column created_by text;
alter table caudal.payins add constraint payin_created_by
  check (created_by ~ '^(key:[0-9A-HJKMNP-TV-Z]{16}|payer|system|operator:.{1,120})$') not valid;
alter table caudal.payouts add column created_by text;
alter table caudal.payouts add constraint payout_created_by
  check (created_by ~ '^(key:[0-9A-HJKMNP-TV-Z]{16}|payer|system|operator:.{1,120})$') not valid;
alter table caudal.payment_links add column created_by text;
alter table caudal.payment_links add constraint payment_link_created_by
  check (created_by ~ '^(key:[0-9A-HJKMNP-TV-Z]{16}|payer|system|operator:.{1,120})$') not valid;
alter table caudal.ledger_transfers add column created_by text;
alter table caudal.ledger_transfers add constraint transfer_created_by
  check (created_by ~ '^(key:[0-9A-HJKMNP-TV-Z]{16}|payer|system|operator:.{1,120})$') not valid;
alter table caudal.webhook_endpoints add column created_by text constraint webhook_endpoint_created_by
  check (created_by ~ '^(key:[0-9A-HJKMNP-TV-Z]{16}|payer|system|operator:.{1,120})$');
alter table caudal.breb_lookups add column created_by text constraint breb_lookup_created_by
  check (created_by ~ '^(key:[0-9A-HJKMNP-TV-Z]{16}|payer|system|operator:.{1,120})$');

-- Rows of earlier versions have the bare id of the API key.
alter table caudal.anomalies add constraint anomaly_accepted_by
  check (accepted_by ~ '^(key:)?[0-9A-HJKMNP-TV-Z]{16}$') not valid;
comment on column caudal.anomalies.accepted_by is 'The API key that accepted it: key:<id>.';

grant insert (created_by) on caudal.payins to caudal_batch;
grant insert (created_by) on caudal.payouts to caudal_batch, caudal_system;
grant insert (created_by) on caudal.payment_links, caudal.webhook_endpoints, caudal.breb_lookups to caudal_batch;
grant insert (created_by) on caudal.ledger_transfers to caudal_batch, caudal_system;
grant select (created_by) on caudal.payins, caudal.payouts, caudal.payment_links, caudal.ledger_transfers,
  caudal.webhook_endpoints, caudal.breb_lookups to caudal_system;

-- What merchants' requests did to resources that existed before: cancellations, expiries, changes of endpoints, replays.
-- Append only: no role may change or delete a row.
create table caudal.merchant_actions (
  organization_id uuid not null,
  id              uuid not null,
  created_by      text not null,
  action          text not null,
  -- Null: the action concerns several resources.
  resource_id     uuid,
  at              timestamptz not null,
  primary key (organization_id, id),
  constraint merchant_action_created_by check (created_by ~ '^key:[0-9A-HJKMNP-TV-Z]{16}$'),
  constraint merchant_action_code check (action ~ '^[a-z_]+[.][a-z_]+$' and length(action) <= 60)
) partition by range (id);
insert into caudal.monthly_tables (name) values ('merchant_actions');
call caudal.protect('caudal.merchant_actions');
grant insert (organization_id, id, created_by, action, resource_id, at) on caudal.merchant_actions to caudal_batch;
grant select on caudal.merchant_actions to caudal_system;

-- ── Limits of API keys ───────────────────────────────────────────────────────────────────────────────────────────────

alter table caudal.api_keys
  -- Requests from other addresses are rejected. Null: any address.
  add column allow_from cidr[] constraint api_key_allow_from check (cardinality(allow_from) between 1 and 100),
  -- Besides the limits of the organization. Null: only those.
  add column writes_per_second integer constraint api_key_writes check (writes_per_second between 1 and 1000000),
  add column reads_per_second integer constraint api_key_reads check (reads_per_second between 1 and 1000000);
grant select (allow_from, writes_per_second, reads_per_second), insert (allow_from, writes_per_second, reads_per_second),
  update (allow_from, writes_per_second, reads_per_second) on caudal.api_keys to caudal_system;

-- ── Networks of API keys ─────────────────────────────────────────────────────────────────────────────────────────────

-- The networks (/24 or /48) that an API key was used from.
create table caudal.api_key_networks (
  organization_id uuid not null references caudal.organizations,
  api_key_id      text not null references caudal.api_keys,
  network         cidr not null,
  first_seen_at   timestamptz not null,
  last_seen_at    timestamptz not null,
  -- False: the allow-list of the key rejected every request.
  allowed         boolean not null,
  -- Null for the first allowed network of the key, and beyond the limit of events per day.
  event_id        uuid,
  primary key (api_key_id, network)
);
call caudal.protect('caudal.api_key_networks');
grant select, insert (organization_id, api_key_id, network, first_seen_at, last_seen_at, allowed, event_id),
  update (last_seen_at, allowed), delete on caudal.api_key_networks to caudal_system;

-- The event is about an API key, whose id is not a UUID: it has no resource id.
alter table caudal.events drop constraint events_resource_check;
alter table caudal.events add constraint events_resource_check
  check (resource in ('payin', 'payout', 'paymentlink', 'webhook', 'api_key')) not valid;
alter table caudal.events alter column resource_id drop not null;
alter table caudal.events add constraint event_resource_id check ((resource_id is null) = (resource = 'api_key')) not valid;

-- Processes that run during the migration report themselves as not ready while a table has no partition for the next month.
select caudal.make_months(caudal.now() + interval '3 months');
