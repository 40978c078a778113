-- schema: expand
-- What a deployment needs after a restore: it notices that its database is a restored one and sends nothing until an operator
-- has compared it with the rails. Also the result of the last `caudal backup check`.

-- ── Sending guard ────────────────────────────────────────────────────────────────────────────────────────────────────

-- One row. Sending is allowed while `identity` is the identity of the database that is read, and `paused_at` is null.
create table caudal.sending_guard (
  only_row     boolean primary key default true check (only_row),
  -- The cluster, database, table and timeline for which sending was last confirmed.
  identity     text not null,
  confirmed_at timestamptz not null default clock_timestamp(),
  -- Set by an operator before a restored database is used, or by a process that misses a mark it has seen.
  paused_at    timestamptz,
  paused_by    text check (length(paused_by) between 1 and 120),
  reason       text check (length(reason) between 1 and 500),
  constraint guard_pause check (num_nonnulls(paused_at, paused_by, reason) in (0, 3))
);

-- A dump restored elsewhere has another cluster, database or table; a base backup recovered from the archive has another
-- timeline, and so has a promoted standby. Null on a standby, and where the cluster's id may not be read it is left out.
create function caudal.database_identity() returns text
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  cluster text := '';
begin
  if pg_is_in_recovery() then return null; end if;
  begin
    select system_identifier::text into cluster from pg_control_system();
  exception when insufficient_privilege or feature_not_supported or undefined_function then cluster := '';
  end;
  return concat_ws('/', cluster, (select oid from pg_database where datname = current_database()),
    'caudal.sending_guard'::regclass::oid, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8));
end $$;
revoke execute on function caudal.database_identity() from public;
grant execute on function caudal.database_identity() to caudal_system;

-- Why nothing may be sent; null when sending is allowed.
create function caudal.sending_held() returns text
  language sql volatile
  return (select case when g.paused_at is not null then 'paused'
    when g.identity is distinct from caudal.database_identity() then 'unconfirmed' end from caudal.sending_guard g);
revoke execute on function caudal.sending_held() from public;
grant execute on function caudal.sending_held() to caudal_system;

insert into caudal.sending_guard (identity) values (caudal.database_identity());
grant select, update (identity, confirmed_at, paused_at, paused_by, reason) on caudal.sending_guard to caudal_system;

-- Random marks, about one every two seconds. A process that saw a mark and finds it after a failover knows that the new primary
-- has everything that was committed before the mark; on a restored database the mark is missing.
create table caudal.continuity_marks (
  number bigint generated always as identity primary key,
  mark   uuid not null default gen_random_uuid(),
  at     timestamptz not null default clock_timestamp()
);
grant select (number, mark, at), insert (mark), delete on caudal.continuity_marks to caudal_system;

-- ── Orders that only the rail knows ──────────────────────────────────────────────────────────────────────────────────

-- Orders that the rail has and the restored database does not: the merchant was given a payout that no longer exists. It may
-- repeat its request, and the repeated payout has another end-to-end id. So a payout of the same organization, receiver and
-- amount that is created later is held until an operator decides whether it is the same payment.
create table caudal.restored_orders (
  end_to_end_id   text collate "C" primary key,
  -- The operator's organization if the organization of the order was lost too: then nothing can be held.
  organization_id uuid not null references caudal.organizations,
  receiver_index  bytea check (length(receiver_index) = 16),
  amount_in_cents bigint not null check (amount_in_cents > 0),
  -- The order's status at the rail when it was listed last.
  rail_status     text not null check (rail_status in ('processing', 'settled', 'rejected')),
  execution_id    text collate "C",
  ordered_at      timestamptz not null,
  -- The database was restored to this time: payouts created before it are other payments.
  restored_to     timestamptz not null,
  listed_at       timestamptz not null default clock_timestamp(),
  -- Payouts that an operator released, because they are other payments.
  released        uuid[] not null default '{}',
  -- The payout that repeated this order, which an operator canceled.
  repeated_by     uuid,
  closed_at       timestamptz,
  constraint restored_order_settled check ((rail_status = 'settled') = (execution_id is not null))
);
create index restored_orders_open on caudal.restored_orders (organization_id, receiver_index) where closed_at is null;
call caudal.protect('caudal.restored_orders');
grant select, insert (end_to_end_id, organization_id, receiver_index, amount_in_cents, rail_status, execution_id, ordered_at, restored_to),
  update (rail_status, execution_id, released, repeated_by, closed_at) on caudal.restored_orders to caudal_system;

-- ── Backup checks ────────────────────────────────────────────────────────────────────────────────────────────────────

-- One row: the last `caudal backup check`, for the metrics of every worker.
create table caudal.backup_check (
  only_row      boolean primary key default true check (only_row),
  checked_at    timestamptz not null,
  -- When the newest base backup ended; null when it is not known.
  last_backup_at timestamptz,
  failures      integer not null
);
grant select, insert (checked_at, last_backup_at, failures), update (checked_at, last_backup_at, failures) on caudal.backup_check to caudal_system;
