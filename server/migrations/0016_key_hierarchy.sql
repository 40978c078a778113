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
