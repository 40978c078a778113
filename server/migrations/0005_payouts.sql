-- Payouts, their attempts and executions, and the lookup of Bre-B keys.

create table caudal.payouts (
  organization_id uuid not null,
  id              uuid not null,
  amount_in_cents bigint not null,
  currency        text not null,
  rail            text not null,
  status          text not null,
  error_code      text,
  reference       text collate "C" not null,
  -- Null for a return, which the operator's organization makes.
  customer        bytea,
  -- The receiver's key, encrypted, and a keyed hash of it for equality searches.
  receiver        bytea not null,
  receiver_index  bytea not null check (length(receiver_index) = 16),
  -- The directory's resolution of the key, and a keyed hash of its holder; null when the key was not looked up.
  lookup_id       uuid,
  resolution_id   text,
  resolved_at     timestamptz,
  holder          bytea check (length(holder) = 16),
  -- The rail executes at most one order per end-to-end id. No role may change it.
  end_to_end_id   text collate "C" not null,
  -- A return of money in suspense: its anomaly, and the anomaly's organization.
  anomaly_id      uuid,
  anomaly_organization_id uuid,
  -- The rail's number of the execution; null when an operator confirmed the payout without one.
  execution_id    text collate "C",
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  result_at       timestamptz,
  -- Next task at the rail, its due time and the lease of the process that works on it. Each attempt is committed before the
  -- order is sent; from the first attempt on, only the rail decides the outcome.
  rail_task       text,
  rail_due_at     timestamptz,
  attempts        smallint not null default 0,
  polls       smallint not null default 0,
  -- The rail's status at the last poll of an open payout; `unanswered` when the rail did not answer. Shown to operators.
  rail_status     text,
  first_sent_at   timestamptz,
  last_sent_at    timestamptz,
  leased_until    timestamptz,
  lease_token     uuid,
  primary key (organization_id, id),
  constraint payout_amount check (amount_in_cents between 1 and 999999999999),
  constraint payout_currency check (currency = 'COP'),
  constraint payout_rail check (rail = 'BRE_B'),
  constraint payout_status check (status in ('PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED')),
  constraint payout_result check ((status <> 'PROCESSING') = (result_at is not null)),
  constraint payout_execution check (execution_id is null or status = 'CONFIRMED'),
  constraint payout_declined check ((status = 'DECLINED') = (error_code is not null)),
  constraint payout_canceled_unsent check (status <> 'CANCELED' or attempts = 0),
  constraint payout_attempts check ((attempts > 0) = (first_sent_at is not null) and (attempts > 0) = (last_sent_at is not null)),
  constraint payout_resolution check (num_nonnulls(resolution_id, resolved_at, holder) in (0, 3) and (lookup_id is null or holder is not null)),
  constraint payout_return check (num_nonnulls(anomaly_id, anomaly_organization_id) in (0, 2)),
  constraint payout_rail_status check (rail_status in ('processing', 'settled', 'rejected', 'not_found', 'unanswered')),
  -- A declined payout that had been sent is polled once more, because the rail may execute the order after a rejection.
  constraint payout_task check (
    (status <> 'PROCESSING' or rail_task is not null) and (rail_task is null) = (rail_due_at is null) and rail_task in ('send', 'poll')
    and (status = 'PROCESSING' or rail_task is null or (status = 'DECLINED' and rail_task = 'poll'))
  ),
  constraint payout_lease check (num_nonnulls(leased_until, lease_token) in (0, 2))
) partition by range (id);
-- Senders take some payouts of each organization, so that a large payroll does not delay the other organizations.
create index payouts_to_send on caudal.payouts (organization_id, rail_due_at) where rail_task = 'send';
create index payouts_to_poll on caudal.payouts (rail_due_at) where rail_task = 'poll';
create index payouts_to_resolve_again on caudal.payouts (resolved_at) where rail_task = 'send' and resolved_at is not null;
create index payouts_to_send_again on caudal.payouts (first_sent_at) where rail_task = 'send' and attempts > 0;
create index payouts_of_receiver on caudal.payouts (organization_id, receiver_index, id);

create table caudal.payout_history (
  organization_id uuid not null,
  payout_id       uuid not null,
  from_status     text not null,
  to_status       text not null,
  cause           text not null,
  at              timestamptz not null,
  constraint payout_history_status check (
    from_status in ('NONE', 'PROCESSING') and to_status in ('PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED')
  ),
  constraint payout_transition_once primary key (organization_id, payout_id, from_status)
) partition by range (payout_id);

-- One row per send, committed before the send: after a crash it shows that the order may have left.
create table caudal.payout_attempts (
  organization_id uuid not null,
  payout_id       uuid not null,
  number          smallint not null,
  at              timestamptz not null,
  answer          text,
  answered_at     timestamptz,
  error_code      text,
  reason          text,
  constraint payout_attempt_once primary key (organization_id, payout_id, number),
  constraint attempt_answer check ((answer is null) = (answered_at is null) and answer in ('accepted', 'duplicate', 'refused', 'unknown')),
  constraint attempt_refused check ((answer is not distinct from 'refused') = (error_code is not null))
) partition by range (payout_id);

-- An execution of a rail is accounted for once: by the payout that it confirmed, or by the anomaly that holds its money. A
-- permanent table, because a partitioned table is unique only within a month. No foreign key: payouts are partitioned.
create table caudal.payout_executions (
  rail            text not null check (rail = 'BRE_B'),
  execution_id    text collate "C" not null,
  organization_id uuid not null,
  -- Null when the order belongs to no payout of ours.
  payout_id       uuid,
  constraint payout_execution_once primary key (rail, execution_id)
);

-- ── Key lookups ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- Resolutions of the directory, as far as a later payout needs them. The key and its holder are stored only as keyed hashes.
-- Deleted a day after they expire.
create table caudal.breb_lookups (
  organization_id uuid not null references caudal.organizations,
  id              uuid not null,
  receiver_index  bytea not null check (length(receiver_index) = 16),
  resolution_id   text not null,
  holder          bytea not null check (length(holder) = 16),
  resolved_at     timestamptz not null,
  expires_at      timestamptz not null,
  -- When a payout with this lookup was sent, which refunds the lookup once.
  used_at         timestamptz,
  primary key (organization_id, id)
);
create index breb_lookups_of_key on caudal.breb_lookups (organization_id, receiver_index, id);
create index breb_lookups_age on caudal.breb_lookups (expires_at);

-- Lookups that an organization has left. Charged before the directory is queried and refunded afterwards, so that a crash in
-- between counts against the caller.
create table caudal.lookup_buckets (
  organization_id uuid primary key references caudal.organizations,
  lookups         double precision not null,
  misses          double precision not null,
  filled_at       timestamptz not null
) with (fillfactor = 20);

-- ── Partitions, row-level security and grants ────────────────────────────────────────────────────────────────────────

insert into caudal.monthly_tables (name, detachable) values ('payouts', false), ('payout_history', true), ('payout_attempts', true);

call caudal.protect('caudal.payouts');
call caudal.protect('caudal.payout_history');
call caudal.protect('caudal.payout_attempts');
call caudal.protect('caudal.payout_executions');
call caudal.protect('caudal.breb_lookups');
call caudal.protect('caudal.lookup_buckets');

-- The merchants' role creates payouts and cancels unsent ones; it cannot write the outcome of a sent payout.
create policy merchants_create on caudal.payouts as restrictive for insert to caudal_batch
  with check (attempts = 0 and status in ('PROCESSING', 'DECLINED'));
create policy merchants_cancel on caudal.payouts as restrictive for update to caudal_batch
  using (true) with check (attempts = 0 and status in ('PROCESSING', 'CANCELED'));

-- Amount, receiver and end-to-end id can never change.
grant select on caudal.payouts to caudal_read;
grant select, insert, update (status, error_code, updated_at, result_at, rail_task, rail_due_at, leased_until, lease_token)
  on caudal.payouts to caudal_batch;
grant select, insert, update (status, error_code, execution_id, updated_at, result_at, resolution_id, resolved_at, rail_task, rail_due_at,
  attempts, polls, rail_status, first_sent_at, last_sent_at, leased_until, lease_token) on caudal.payouts to caudal_system;
grant insert on caudal.payout_history to caudal_batch;
grant select, insert on caudal.payout_history, caudal.payout_executions to caudal_system;
grant select, insert, update (answer, answered_at, error_code, reason) on caudal.payout_attempts to caudal_system;
grant select, insert on caudal.breb_lookups to caudal_batch;
grant select, update (used_at), delete on caudal.breb_lookups to caudal_system;
grant select, insert, update on caudal.lookup_buckets to caudal_batch;
grant select, update on caudal.lookup_buckets to caudal_system;
