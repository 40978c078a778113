-- Payouts: money sent once, to the person who was meant. And the lookup of a key before it.

-- ── Payouts ──────────────────────────────────────────────────────────────────────────────────────────────────────────

create table caudal.payouts (
  organization_id uuid not null,
  id              uuid not null,
  amount_in_cents bigint not null,
  currency        text not null,
  rail            text not null,
  status          text not null,
  error_code      text,
  reference       text collate "C" not null,
  -- Null for a return, which the house makes.
  customer        bytea,
  -- The receiver's key, encrypted, and a keyed hash of it by which the same key is found again.
  receiver        bytea not null,
  receiver_index  bytea not null check (length(receiver_index) = 16),
  -- What the directory promised about the key when it was looked up, and whose it was (a keyed hash); null for a key
  -- that nobody looked up.
  lookup_id       uuid,
  resolution_id   text,
  resolved_at     timestamptz,
  holder          bytea check (length(holder) = 16),
  -- The rail executes one order by this. Written once: no role may change it.
  end_to_end_id   text collate "C" not null,
  -- A return of money that waited in suspense: for which anomaly, and whose it was.
  anomaly_id      uuid,
  anomaly_organization_id uuid,
  -- The rail's number of what it executed; null in a confirmed one while only an operator's word stands for it.
  execution_id    text collate "C",
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  result_at       timestamptz,
  -- What is to be done next about it at its rail, when, and who is at it. From the first attempt on, which is committed
  -- before anything is sent, its outcome is the rail's to tell.
  rail_task       text,
  rail_due_at     timestamptz,
  attempts        smallint not null default 0,
  questions       smallint not null default 0,
  first_sent_at   timestamptz,
  last_sent_at    timestamptz,
  leased_until   timestamptz,
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
  -- A declined one that had been sent is asked about once more: its rejection may not have been the rail's last word.
  constraint payout_task check (
    (status <> 'PROCESSING' or rail_task is not null) and (rail_task is null) = (rail_due_at is null) and rail_task in ('send', 'ask')
    and (status = 'PROCESSING' or rail_task is null or (status = 'DECLINED' and rail_task = 'ask'))
  ),
  constraint payout_lease check (num_nonnulls(leased_until, lease_token) in (0, 2))
) partition by range (id);
-- Senders take some of each organization, so that nobody stands behind another's payroll.
create index payouts_to_send on caudal.payouts (organization_id, rail_due_at) where rail_task = 'send';
create index payouts_to_poll on caudal.payouts (rail_due_at) where rail_task = 'ask';
-- The few among them: whose promise is old, and which have left before.
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
  constraint payout_leaves_a_state_once primary key (organization_id, payout_id, from_status)
) partition by range (payout_id);

-- One row a send, committed before it: after a crash it says that the order may have left.
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

-- ── Lookups ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- What the directory said of a key, as far as a later payout needs it. The key itself and its holder are not kept: both
-- are keyed hashes. Leaves a day after it has expired.
create table caudal.breb_lookups (
  organization_id uuid not null references caudal.organizations,
  id              uuid not null,
  receiver_index  bytea not null check (length(receiver_index) = 16),
  resolution_id   text not null,
  holder          bytea not null check (length(holder) = 16),
  resolved_at     timestamptz not null,
  expires_at      timestamptz not null,
  -- When a payout that followed was sent: it pays the lookup back, once.
  used_at         timestamptz,
  primary key (organization_id, id)
);
create index breb_lookups_of_key on caudal.breb_lookups (organization_id, receiver_index, id);
create index breb_lookups_age on caudal.breb_lookups (expires_at);

-- How many lookups an organization has left. Taken before the directory is asked and given back afterwards: whatever
-- dies in between counts against the caller.
create table caudal.lookup_buckets (
  organization_id uuid primary key references caudal.organizations,
  lookups         double precision not null,
  misses          double precision not null,
  filled_at       timestamptz not null
) with (fillfactor = 20);

-- ── What operators did ───────────────────────────────────────────────────────────────────────────────────────────────

-- Append only: no role may change or delete a row.
create table caudal.operator_actions (
  organization_id uuid not null,
  id              uuid not null,
  at              timestamptz not null default caudal.now(),
  operator        text not null check (length(operator) between 1 and 120),
  action          text not null check (length(action) between 1 and 60),
  resource_id     uuid not null,
  note            text check (length(note) between 1 and 500),
  primary key (organization_id, id)
);
create index operator_actions_at on caudal.operator_actions (at);

-- ── What rails say, the ledger and anomalies learn of payouts ────────────────────────────────────────────────────────

alter table caudal.rail_notices add column about text not null default 'payin' check (about in ('payin', 'payout'));
drop index caudal.rail_notices_due;
create index rail_notices_due on caudal.rail_notices (about, task, due_at) where due_at is not null;

alter table caudal.ledger_causes drop constraint ledger_causes_kind_check;
alter table caudal.ledger_causes add constraint ledger_causes_kind_check check (
  kind in ('payment', 'settlement', 'deposit', 'anomaly', 'payout_hold', 'payout_release', 'payout', 'execution')
);

-- Below zero: money that left and that nobody answers for yet.
alter table caudal.anomalies
  add column payout_id uuid,
  -- The payout that gives its money back.
  add column return_payout_id uuid,
  drop constraint anomaly_kind,
  drop constraint anomaly_amount,
  drop constraint anomaly_resolution,
  add constraint anomaly_kind check (
    kind in ('paid_late', 'paid_again', 'unmatched', 'contradiction', 'unconfirmed', 'sent_late', 'sent_again')
  ),
  add constraint anomaly_about check (num_nonnulls(payin_id, payout_id) <= 1),
  add constraint anomaly_amount check (amount_in_cents <> 0),
  add constraint anomaly_return check ((return_payout_id is not null) = (resolution is not distinct from 'return')),
  add constraint anomaly_resolution check (
    num_nonnulls(resolved_at, resolution, resolved_by) in (0, 3)
    and resolution in ('credit', 'return', 'charge', 'write_off', 'dismiss')
    and (resolution not in ('credit', 'return') or amount_in_cents > 0)
    and (resolution not in ('charge', 'write_off') or amount_in_cents < 0)
    and (resolution <> 'dismiss' or amount_in_cents is null)
  );
create index anomalies_of_payout on caudal.anomalies (organization_id, payout_id) where payout_id is not null;

-- ── Months, walls and grants ─────────────────────────────────────────────────────────────────────────────────────────

insert into caudal.monthly_tables values ('payouts'), ('payout_history'), ('payout_attempts');

call caudal.protect('caudal.payouts');
call caudal.protect('caudal.payout_history');
call caudal.protect('caudal.payout_attempts');
call caudal.protect('caudal.breb_lookups');
call caudal.protect('caudal.lookup_buckets');
call caudal.protect('caudal.operator_actions');

grant select on caudal.payouts to caudal_read;

-- The merchants' role creates payouts and cancels those that were not sent; what a rail's word brings is not its to write.
create policy merchants_create on caudal.payouts as restrictive for insert to caudal_batch
  with check (attempts = 0 and status in ('PROCESSING', 'DECLINED'));
create policy merchants_cancel on caudal.payouts as restrictive for update to caudal_batch
  using (true) with check (attempts = 0 and status in ('PROCESSING', 'CANCELED'));

-- Only what may change: amount, receiver and end-to-end id are what was committed, for ever.
grant select, insert, update (status, error_code, updated_at, result_at, rail_task, rail_due_at, leased_until, lease_token)
  on caudal.payouts to caudal_batch;
grant select, insert, update (status, error_code, execution_id, updated_at, result_at, resolution_id, resolved_at, rail_task, rail_due_at,
  attempts, questions, first_sent_at, last_sent_at, leased_until, lease_token) on caudal.payouts to caudal_system;
grant insert on caudal.payout_history to caudal_batch;
grant select, insert on caudal.payout_history to caudal_system;
grant select, insert, update (answer, answered_at, error_code, reason) on caudal.payout_attempts to caudal_system;
grant select, insert on caudal.breb_lookups to caudal_batch;
grant select, update (used_at), delete on caudal.breb_lookups to caudal_system;
grant select, insert, update on caudal.lookup_buckets to caudal_batch;
grant select, update on caudal.lookup_buckets to caudal_system;
grant select, insert on caudal.operator_actions to caudal_system;

-- A payout's hold, and the event of one that is declined or canceled at once, are written with it.
grant select, update (balance_in_cents, updated_at) on caudal.ledger_balances to caudal_batch;
grant insert on caudal.ledger_transfers, caudal.events, caudal.final_events to caudal_batch;
grant select, insert on caudal.ledger_causes to caudal_batch;
