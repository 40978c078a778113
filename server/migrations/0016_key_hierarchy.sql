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
