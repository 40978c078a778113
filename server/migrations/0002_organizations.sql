-- Organizations, their credentials and limits, rail pauses, the operators' audit log.

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
  is_operator       boolean not null default false,
  -- EXACT: only the requested amount confirms a direct payin. ANY: the payin is confirmed with the amount that arrives.
  amount_policy     text not null default 'EXACT' constraint organization_amount_policy check (amount_policy in ('EXACT', 'ANY')),
  -- Rate limits of the organization. Null: the limits of the deployment. Zero: no limit. Read with the credential, so that a
  -- request needs no query for them.
  writes_per_second integer check (writes_per_second between 0 and 1000000),
  reads_per_second  integer check (reads_per_second between 0 and 1000000),
  suspended_at      timestamptz,
  suspended_by      text check (length(suspended_by) between 1 and 120),
  suspension_reason text check (length(suspension_reason) between 1 and 500),
  created_at        timestamptz not null default caudal.now(),
  updated_at        timestamptz not null default caudal.now(),
  constraint organization_suspension check (num_nonnulls(suspended_at, suspended_by, suspension_reason) in (0, 3)),
  -- The operator's organization sends the returns of money in suspense.
  constraint operator_not_suspended check (not is_operator or suspended_at is null)
);
comment on column caudal.organizations.number is 'Short handle carried in checkout tokens beside the id.';
comment on column caudal.organizations.is_operator is 'Owns what belongs to no merchant: raw notifications, suspense, returns.';
comment on column caudal.organizations.suspended_at is 'Set while the organization may create nothing and none of its payouts is sent.';
create unique index organizations_one_operator on caudal.organizations (is_operator) where is_operator;
create index organizations_suspended on caudal.organizations (id) where suspended_at is not null;

-- The data key that encrypts an organization's personal data, itself wrapped by the master key of the configuration. A
-- rotation of the master key wraps the data key again and leaves the encrypted data unchanged.
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

-- Every process polls this table to invalidate its cache of organizations and credentials. Real time and not business time,
-- because a time shift must not hide a revocation.
create table caudal.credential_changes (
  id              bigint generated always as identity primary key,
  organization_id uuid not null references caudal.organizations,
  at              timestamptz not null default clock_timestamp()
);
create index credential_changes_at on caudal.credential_changes (at);

-- While a row exists, no new order is sent to the rail: for one organization, or for all (the operator's id).
create table caudal.rail_pauses (
  rail            text not null check (rail in ('BRE_B', 'PSE')),
  organization_id uuid not null references caudal.organizations,
  reason          text not null check (length(reason) between 1 and 500),
  paused_by       text not null check (length(paused_by) between 1 and 120),
  paused_at       timestamptz not null default caudal.now(),
  primary key (rail, organization_id)
);

-- ── Audit log ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Every operator command that changes something writes a row in the transaction of the change. Commands that cannot run in
-- one transaction write a row before and one after. Append only.
create table caudal.operator_actions (
  id              uuid primary key default gen_random_uuid(),
  -- Null: the action concerns the whole deployment (migrate, secrets rewrap, a pause for every organization).
  organization_id uuid,
  at              timestamptz not null default caudal.now(),
  operator        text not null check (length(operator) between 1 and 120),
  action          text not null check (length(action) between 1 and 60),
  resource        text,
  phase           text not null default 'done',
  -- Machine-readable facts of the action. Never personal data, never a secret.
  details         jsonb not null default '{}',
  note            text check (length(note) between 1 and 500),
  constraint operator_action_phase check (phase in ('done', 'started', 'finished', 'failed')),
  constraint operator_action_details check (jsonb_typeof(details) = 'object' and length(details::text) <= 10000),
  constraint operator_action_resource check (length(resource) between 1 and 300),
  constraint operator_action_code check (action ~ '^[a-z]+([.][a-z]+)?$')
);
create index operator_actions_at on caudal.operator_actions (at);
create index operator_actions_of_organization on caudal.operator_actions (organization_id, at);
create index operator_actions_by_operator on caudal.operator_actions (operator, at);
create index operator_actions_by_action on caudal.operator_actions (action, at);

-- Privileges already deny changes to the roles of the server. The trigger denies them to the owner and to superusers too.
create function caudal.reject_audit_change() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'caudal.operator_actions is append-only' using errcode = 'insufficient_privilege';
end $$;
revoke execute on function caudal.reject_audit_change() from public;
create trigger append_only before update or delete or truncate on caudal.operator_actions
  for each statement execute function caudal.reject_audit_change();

-- ── Row-level security and grants ────────────────────────────────────────────────────────────────────────────────────

call caudal.protect('caudal.organizations', 'id');
call caudal.protect('caudal.organization_keys');
call caudal.protect('caudal.api_keys');
call caudal.protect('caudal.access_tokens');
call caudal.protect('caudal.credential_changes');
call caudal.protect('caudal.rail_pauses');
call caudal.protect('caudal.operator_actions');

-- A payer starts an attempt on a link as the merchants' role; the transaction itself checks the suspension.
grant select (id, suspended_at) on caudal.organizations to caudal_read, caudal_batch;
grant select, insert, update, delete on caudal.organizations, caudal.organization_keys, caudal.api_keys, caudal.access_tokens,
  caudal.credential_changes, caudal.rail_pauses to caudal_system;
grant select, insert on caudal.operator_actions to caudal_system;
