-- Roles (caudal_read, caudal_batch, caudal_system) are made by the migrate command before this file runs: they belong
-- to the cluster, not to the database.

create schema caudal;
revoke all on schema caudal from public;
grant usage on schema caudal to caudal_read, caudal_batch, caudal_system;

-- ── Deployment and time ──────────────────────────────────────────────────────────────────────────────────────────────

-- One row: which environment and cell this database belongs to for ever, and how far a test has shifted time.
create table caudal.deployment (
  only_row    boolean primary key default true check (only_row),
  environment text not null check (environment in ('development', 'staging', 'production')),
  cell        smallint not null check (cell between 0 and 1023),
  time_shift  interval not null default interval '0',
  constraint production_time_is_never_shifted check (environment <> 'production' or time_shift = interval '0')
);

-- Business time: created, due, expiry. Milliseconds, as the interface shows them, so that what is compared is what is seen.
create function caudal.now() returns timestamptz
  language sql stable parallel safe
  return date_trunc('milliseconds', pg_catalog.now() + (select time_shift from caudal.deployment));

-- ── Months ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The smallest UUIDv7 of a moment: partitions are cut by time through the id.
create function caudal.uuid_floor(at timestamptz) returns uuid
  language sql immutable strict parallel safe
  return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create table caudal.monthly_tables (name text primary key);

-- Makes the partitions from this month until the month of `until`. A new month is built apart and attached, because
-- "create table … partition of" would lock the parent against every reader and writer.
create function caudal.make_months(until timestamptz) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- A month added in another time zone ends on another day: months would overlap or leave a gap.
  set timezone = 'UTC'
as $$
declare
  parent text;
  month  timestamptz;
  child  text;
  made   integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('caudal.make_months'));
  for parent in select name from caudal.monthly_tables order by name loop
    month := date_trunc('month', caudal.now(), 'UTC');
    while month <= until loop
      child := format('%s_%s', parent, to_char(month at time zone 'UTC', 'YYYYMM'));
      if to_regclass('caudal.' || quote_ident(child)) is null then
        execute format('create table caudal.%I (like caudal.%I including defaults including constraints including storage)', child, parent);
        -- Reached only through the parent, whose policies apply; the month itself opens to nobody.
        execute format('alter table caudal.%I enable row level security', child);
        execute format('alter table caudal.%I force row level security', child);
        execute format('alter table caudal.%I attach partition caudal.%I for values from (%L) to (%L)',
          parent, child, caudal.uuid_floor(month), caudal.uuid_floor(month + interval '1 month'));
        made := made + 1;
      end if;
      month := month + interval '1 month';
    end loop;
  end loop;
  return made;
end $$;

-- Whether every monthly table has its next month: /readyz fails without it.
create function caudal.months_ready() returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
  return not exists (
    select from caudal.monthly_tables t
    where to_regclass(format('caudal.%I', t.name || '_' || to_char((date_trunc('month', caudal.now(), 'UTC') + interval '1 month') at time zone 'UTC', 'YYYYMM'))) is null
  );

-- For tests and staging: an hour's expiry or thirty days of retries pass in a moment. The check constraint on
-- deployment refuses it in production.
create function caudal.shift_time(by interval) returns timestamptz
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update caudal.deployment set time_shift = time_shift + by;
  perform caudal.make_months(caudal.now() + interval '3 months');
  return caudal.now();
end $$;

-- ── Row-level security ───────────────────────────────────────────────────────────────────────────────────────────────

create function caudal.current_organization() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('caudal.organization_id', true), '')::uuid;

create function caudal.batch_organizations() returns uuid[]
  language sql stable parallel safe
  return coalesce(nullif(current_setting('caudal.organization_ids', true), ''), '{}')::uuid[];

-- Puts the second wall around a table. The scalar sub-selects make PostgreSQL read the setting once per statement:
-- read per row, a batch of several hundred organizations would parse its list for every row it writes.
create procedure caudal.protect(target regclass, owner name default 'organization_id')
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy one_organization on %s to caudal_read using (%I = (select caudal.current_organization()))', target, owner);
  execute format('create policy organizations_of_the_batch on %s to caudal_batch using (%I = any ((select caudal.batch_organizations())::uuid[])) with check (%I = any ((select caudal.batch_organizations())::uuid[]))', target, owner, owner);
  execute format('create policy system on %s to caudal_system using (true) with check (true)', target);
end $$;

-- ── Organizations and credentials ────────────────────────────────────────────────────────────────────────────────────

create table caudal.organizations (
  id                uuid primary key,
  number            integer not null generated always as identity unique,
  name              text not null check (length(name) between 1 and 120),
  accent            text not null check (accent ~ '^#[0-9a-f]{6}$'),
  support_contact   text not null check (length(support_contact) between 1 and 200),
  rails             text[] not null check (rails <@ array['BRE_B', 'PSE']),
  city              text not null check (length(city) between 1 and 60),
  postal_code       text not null check (length(postal_code) between 1 and 10),
  merchant_category text not null check (merchant_category ~ '^[0-9]{4}$'),
  is_operator          boolean not null default false,
  created_at        timestamptz not null default caudal.now(),
  updated_at        timestamptz not null default caudal.now()
);
comment on column caudal.organizations.number is 'Short handle carried in checkout tokens beside the id.';
comment on column caudal.organizations.is_operator is 'The house owns what belongs to no merchant: raw notices, suspense, returns.';
create unique index organizations_one_operator on caudal.organizations (is_operator) where is_operator;

-- The key that encrypts an organization's personal data, itself encrypted (wrapped) by a key of the configuration. It
-- is made once: rotating the master key wraps it anew and touches nothing that it encrypted.
create table caudal.organization_keys (
  organization_id uuid primary key references caudal.organizations,
  wrapped_key     bytea not null,
  master_key_id   text not null,
  created_at      timestamptz not null default caudal.now()
);

create table caudal.api_keys (
  id              text primary key check (id ~ '^[0-9A-HJKMNP-TV-Z]{16}$'),
  organization_id uuid not null references caudal.organizations,
  name            text not null check (length(name) between 1 and 120),
  mac             bytea not null check (length(mac) = 32),
  scopes          text[] not null,
  created_at      timestamptz not null default caudal.now(),
  expires_at      timestamptz,
  revoked_at      timestamptz,
  last_used_at    timestamptz
);
create index api_keys_of_organization on caudal.api_keys (organization_id);

create table caudal.access_tokens (
  id              text primary key check (id ~ '^[0-9A-HJKMNP-TV-Z]{16}$'),
  organization_id uuid not null references caudal.organizations,
  api_key_id      text not null references caudal.api_keys,
  mac             bytea not null check (length(mac) = 32),
  scopes          text[] not null,
  created_at      timestamptz not null default caudal.now(),
  expires_at      timestamptz not null
);
create index access_tokens_expiry on caudal.access_tokens (expires_at);

-- What every process polls to forget what it knew of an organization and its credentials. Real time, not business
-- time: a shift must not hide a revocation.
create table caudal.credential_changes (
  id              bigint generated always as identity primary key,
  organization_id uuid not null references caudal.organizations,
  at              timestamptz not null default clock_timestamp()
);
create index credential_changes_at on caudal.credential_changes (at);

call caudal.protect('caudal.organizations', 'id');
call caudal.protect('caudal.organization_keys');
call caudal.protect('caudal.api_keys');
call caudal.protect('caudal.access_tokens');
call caudal.protect('caudal.credential_changes');

-- ── Once only ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Kept 30 days, then deleted in sets, oldest first. Key (with its operation) and body are keyed hashes: a dump cannot be
-- searched for a customer's document by hashing all documents.
create table caudal.idempotency_keys (
  organization_id uuid not null,
  key_hash        bytea not null check (length(key_hash) = 16),
  body_hash       bytea not null check (length(body_hash) = 16),
  resource_id     uuid not null,
  created_at      timestamptz not null,
  repeats         integer not null default 0,
  constraint idempotency_key_once primary key (organization_id, key_hash)
);
create index idempotency_keys_age on caudal.idempotency_keys (created_at);

-- Unique for ever, so it has its own narrow table: a partitioned one could only be unique within a month.
create table caudal.resource_references (
  organization_id uuid not null,
  kind            text not null check (kind in ('payin', 'payout', 'payment_link')),
  reference       text collate "C" not null check (length(reference) between 1 and 255),
  resource_id     uuid not null,
  repeats         integer not null default 0,
  constraint reference_once primary key (organization_id, kind, reference)
);

call caudal.protect('caudal.idempotency_keys');
call caudal.protect('caudal.resource_references');

-- ── Payins ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The key leads with the organization and serves both "one" and "list, newest first"; months are cut by the id.
create table caudal.payins (
  organization_id           uuid not null,
  id                        uuid not null,
  amount_in_cents           bigint not null,
  confirmed_amount_in_cents bigint,
  currency                  text not null,
  rail                      text not null,
  status                    text not null,
  settlement_status         text,
  error_code                text,
  reference                 text collate "C" not null,
  payment_link_id           uuid,
  customer                  bytea,
  callback_url              text,
  created_at                timestamptz not null,
  updated_at                timestamptz not null,
  expires_at                timestamptz not null,
  result_at                 timestamptz,
  chargeback_at             timestamptz,
  breb_key_type             text,
  breb_key                  text collate "C",
  pse_bank                  text,
  pse_person_type           text,
  -- Set once, when the bank's page is known; the payin is PROCESSING from then.
  pse_url                   text,
  pse_url_at                timestamptz,
  pse_transaction_id        text,
  pse_cus                   text,
  -- What is to be done next about this payin at its rail, when, and who is at it. `rail_sent_at` is the last time that
  -- an order may have left for the rail: until its longest processing time has passed, "no" may not be the last word.
  rail_task                 text,
  rail_due_at               timestamptz,
  rail_sent_at              timestamptz,
  rail_attempts             smallint not null default 0,
  leased_until             timestamptz,
  lease_token               uuid,
  primary key (organization_id, id),
  constraint payin_amount check (amount_in_cents between 1 and 999999999999),
  constraint payin_confirmed_amount check (confirmed_amount_in_cents >= 0),
  constraint payin_currency check (currency = 'COP'),
  constraint payin_status check (status in ('PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED')),
  constraint payin_result check ((status in ('CONFIRMED', 'DECLINED', 'CANCELED')) = (result_at is not null)),
  constraint payin_confirmed check (status <> 'CONFIRMED' or confirmed_amount_in_cents is not null),
  constraint payin_page check ((pse_url is null) = (pse_url_at is null)),
  constraint payin_due check ((rail_task is null) = (rail_due_at is null) and rail_task in ('open', 'ask', 'close')),
  constraint payin_lease check (num_nonnulls(leased_until, lease_token) in (0, 2)),
  constraint payin_settlement_status check (settlement_status in ('PENDING_SETTLEMENT', 'SETTLED')),
  constraint payin_rail check (
    (rail = 'BRE_B' and breb_key is not null and breb_key_type in ('SINGLE_USE', 'QR_CODE') and pse_bank is null)
    or (rail = 'PSE' and breb_key is null and pse_bank is not null and pse_person_type in ('INDIVIDUAL', 'BUSINESS'))
  )
) partition by range (id);
create index payins_rail_due on caudal.payins (rail, rail_task, rail_due_at) where rail_due_at is not null;
-- Free for direct payins: a link's attempts are found by it.
create index payins_of_link on caudal.payins (organization_id, payment_link_id, id) where payment_link_id is not null;

-- One row a move. The key says "one transition out of a state": no state is ever left twice.
create table caudal.payin_history (
  organization_id uuid not null,
  payin_id        uuid not null,
  from_status     text not null,
  to_status       text not null,
  cause           text not null,
  at              timestamptz not null,
  constraint payin_history_status check (
    from_status in ('NONE', 'PENDING', 'PROCESSING') and to_status in ('PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED')
  ),
  constraint payin_leaves_a_state_once primary key (organization_id, payin_id, from_status)
) partition by range (payin_id);

-- Every key we ever minted, so none is given twice, and how far its registration at the network is. Apart from the
-- payin because it changes once for every payin and a payin's row is wide.
create table caudal.breb_keys (
  key             text collate "C" not null,
  organization_id uuid not null,
  payin_id        uuid not null,
  minted_at       timestamptz not null,
  register_due_at timestamptz,
  attempts        smallint not null default 0,
  leased_until   timestamptz,
  lease_token     uuid,
  registered_at   timestamptz,
  refusal         text,
  constraint breb_key_once primary key (key),
  constraint breb_key_registration check (num_nonnulls(register_due_at, registered_at, refusal) <= 1),
  constraint breb_key_lease check (num_nonnulls(leased_until, lease_token) in (0, 2))
)
-- Every row is updated once, a second after it was written: vacuum by count, not by a share of all keys ever minted.
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_insert_scale_factor = 0.05);
create index breb_keys_due on caudal.breb_keys (register_due_at) where register_due_at is not null;

call caudal.protect('caudal.payins');
call caudal.protect('caudal.payin_history');
call caudal.protect('caudal.breb_keys');

insert into caudal.monthly_tables values ('payins'), ('payin_history');

-- ── Who may do what ──────────────────────────────────────────────────────────────────────────────────────────────────

revoke execute on all functions in schema caudal from public;
revoke execute on all procedures in schema caudal from public;
grant select on caudal.deployment to caudal_read, caudal_batch, caudal_system;
grant select on caudal.monthly_tables to caudal_system;
grant execute on function caudal.now(), caudal.uuid_floor(timestamptz), caudal.current_organization(), caudal.batch_organizations()
  to caudal_read, caudal_batch, caudal_system;
grant execute on function caudal.make_months(timestamptz), caudal.months_ready(), caudal.shift_time(interval) to caudal_system;

grant select on caudal.payins, caudal.payin_history, caudal.resource_references to caudal_read;

grant select, insert on caudal.payins, caudal.payin_history, caudal.breb_keys to caudal_batch;
grant update on caudal.payins to caudal_batch;
grant update (leased_until, lease_token) on caudal.breb_keys to caudal_batch;
grant select, insert, update, delete on caudal.idempotency_keys, caudal.resource_references to caudal_batch;

grant select, insert, update, delete on
  caudal.organizations, caudal.organization_keys, caudal.api_keys, caudal.access_tokens, caudal.credential_changes,
  caudal.idempotency_keys, caudal.resource_references, caudal.breb_keys to caudal_system;
grant select, insert, update on caudal.payins, caudal.payin_history to caudal_system;
