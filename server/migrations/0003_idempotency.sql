-- Idempotency keys and unique references.

-- Kept for 30 days, then purged in batches, oldest first. The key (with its operation) and the body are keyed hashes: a dump
-- cannot be searched for a customer's document number by hashing all numbers.
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

-- References are permanently unique. A narrow table of their own, because a partitioned table is unique only within a month.
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
grant select on caudal.resource_references to caudal_read;
grant select, insert, update, delete on caudal.idempotency_keys, caudal.resource_references to caudal_batch, caudal_system;
