-- The hash key of an organization is stored apart from its data keys, and an organization may have several data keys.

-- The key under which idempotency keys, request bodies, receivers and holders are hashed. It never changes: another key would
-- find none of the stored hashes. Until now it was derived from the data key; `caudal migrate` stores that derived key for
-- every existing organization, because SQL cannot unwrap the data key.
create table caudal.organization_hash_keys (
  organization_id uuid primary key references caudal.organizations,
  wrapped_key     bytea not null,
  master_key_id   text not null,
  created_at      timestamptz not null default caudal.now()
);
call caudal.protect('caudal.organization_hash_keys');
grant select, insert on caudal.organization_hash_keys to caudal_system;
grant update (wrapped_key, master_key_id) on caudal.organization_hash_keys to caudal_system;

-- An encrypted value names the number of its data key; a value without a number belongs to number 1. The newest active key
-- encrypts. A new key becomes active some seconds after it is inserted: until then every process loads it, so that no process
-- meets a value that it cannot decrypt.
alter table caudal.organization_keys
  add column number integer not null default 1 constraint data_key_number check (number between 1 and 65535),
  add column activates_at timestamptz not null default clock_timestamp(),
  drop constraint organization_keys_pkey,
  add primary key (organization_id, number);
grant select (number, activates_at), insert (number, activates_at) on caudal.organization_keys to caudal_system;

-- ── Rotation of data keys ────────────────────────────────────────────────────────────────────────────────────────────

alter table caudal.organization_keys
  -- Values that the key encrypted, approximately: processes add their counts twice a minute.
  add column messages bigint not null default 0,
  -- Since then no row of the attached months carries the key; detached months may.
  add column retired_at timestamptz;
grant select (messages, retired_at), update (messages, retired_at), delete on caudal.organization_keys to caudal_system;
create policy retired_only on caudal.organization_keys as restrictive for delete to caudal_system using (retired_at is not null);

-- The key of an existing organization has encrypted at most about as many values as all tables have rows. Less than what rotates
-- a key automatically: processes of the previous version, which may still run, cannot read values of a second key.
alter table caudal.organization_keys no force row level security;
update caudal.organization_keys set messages = (
  select least(coalesce(sum(greatest(c.reltuples, 0)), 0), 2^30)::bigint from pg_catalog.pg_class c
  where c.relnamespace = 'caudal'::regnamespace and c.relkind = 'r');
alter table caudal.organization_keys force row level security;

-- The re-encryption of an organization's values with its newest key. It goes through all encrypted columns, in passes, until
-- a pass finds no value of an older key. Times are real times, as activates_at is.
create table caudal.key_rotations (
  organization_id uuid primary key references caudal.organizations,
  -- Values of keys with a smaller number are encrypted again.
  number          integer not null,
  started_at      timestamptz not null default clock_timestamp(),
  pass_started_at timestamptz,
  -- The table in progress and the primary key of its last row that was read, after the organization.
  current_table   text not null default '',
  after_key       text[] not null default '{}',
  -- Values of older keys that this pass has found, and values that all passes have encrypted again.
  found           bigint not null default 0,
  reencrypted     bigint not null default 0,
  -- Null: finished.
  due_at          timestamptz,
  finished_at     timestamptz,
  constraint key_rotation_end check ((due_at is null) = (finished_at is not null))
);
create index key_rotations_due on caudal.key_rotations (due_at) where due_at is not null;
call caudal.protect('caudal.key_rotations');
grant select, insert on caudal.key_rotations to caudal_system;
grant update (number, started_at, pass_started_at, current_table, after_key, found, reencrypted, due_at, finished_at)
  on caudal.key_rotations to caudal_system;

-- The number of the data key that encrypted a value; null for what is not an encrypted value.
create function caudal.data_key_number(value bytea) returns integer
  language sql immutable strict parallel safe
  return case get_byte(value, 0) when 1 then 1 when 2 then get_byte(value, 1) * 256 + get_byte(value, 2) end;
revoke execute on function caudal.data_key_number(bytea) from public;
grant execute on function caudal.data_key_number(bytea) to caudal_system;

-- Replaces an encrypted value by the same value of a newer key, and nothing else: no role has the right to update these columns
-- for a rotation. The new value must name a newer key and have a plaintext of the same length (the database cannot compare the
-- plaintexts), and the old one must still be stored. The receiver of a payout that may still be sent cannot change at all.
-- @returns whether it was replaced
create function caudal.reencrypt(target text, target_column text, organization uuid, key text[], was bytea, becomes bytea) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  key_columns text[];
  condition text;
  matches text;
  replaced integer;
begin
  select t.key_columns, t.condition into key_columns, condition
  from (values
    ('payins', '{customer,metadata}'::text[], '{id}'::text[], 'true'),
    ('payer_authorizations', '{evidence}', '{payin_id}', 'true'),
    ('rail_notices', '{raw}', '{id}', 'true'),
    ('payouts', '{customer,receiver,metadata}', '{id}', $c$t.status <> 'PROCESSING'$c$),
    ('payment_links', '{customer,metadata}', '{id}', 'true'),
    ('events', '{payload}', '{id}', 'true'),
    ('webhook_endpoints', '{address,static_header,secret,previous_secret,older_secret,created_as}', '{id}', 'true'),
    ('webhook_attempts', '{answer}', '{endpoint_id,event_id,number}', 'true'),
    ('receipt_emails', '{address}', '{id}', 'true')
  ) as t (name, columns, key_columns, condition)
  where t.name = target and target_column = any (t.columns);
  if not found
    or caudal.data_key_number(becomes) is null
    or caudal.data_key_number(becomes) <= caudal.data_key_number(was)
    or length(becomes) - 3 <> length(was) - (case get_byte(was, 0) when 1 then 1 else 3 end)
  then
    raise exception '%.% may only be encrypted again with a newer key', target, target_column using errcode = 'insufficient_privilege';
  end if;
  select string_agg(format('t.%I = ($3)[%s]::%s', c.name, c.position, case c.name when 'number' then 'smallint' else 'uuid' end), ' and ')
  into matches from unnest(key_columns) with ordinality as c (name, position);
  perform set_config('caudal.reencryption', 'on', true);
  execute format('update caudal.%I t set %I = $1 where t.organization_id = $2 and %s and t.%I = $4 and %s',
    target, target_column, matches, target_column, condition)
  using becomes, organization, key, was;
  get diagnostics replaced = row_count;
  perform set_config('caudal.reencryption', '', true);
  return replaced > 0;
end $$;
revoke execute on function caudal.reencrypt(text, text, uuid, text[], bytea, bytea) from public;
grant execute on function caudal.reencrypt(text, text, uuid, text[], bytea, bytea) to caudal_system;

-- The function runs as the owner of the schema, to whom forced row-level security shows no row outside of it.
do $$
declare
  target text;
begin
  foreach target in array array['payins', 'payer_authorizations', 'rail_notices', 'payouts', 'payment_links', 'events',
    'webhook_endpoints', 'webhook_attempts', 'receipt_emails']
  loop
    execute format($p$create policy reencryption on caudal.%I to %I
      using (current_setting('caudal.reencryption', true) = 'on')$p$, target, current_user);
  end loop;
end $$;

-- ── Peppers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Identifies the pepper of the MAC, so that an operator sees which API keys a removed pepper would invalidate. Null: the key
-- was not used since this column exists.
alter table caudal.api_keys add column pepper_id text;
grant select (pepper_id), insert (pepper_id), update (pepper_id) on caudal.api_keys to caudal_system;
