-- Payins reach their outcome: what rails say, the ledger, events, anomalies, the brake.

-- ── What rails say ───────────────────────────────────────────────────────────────────────────────────────────────────

-- Stored before anything is made of it. `organization_id` is the house's for what came from outside, since whose it is
-- comes out only when it is applied; a refusal of an order of ours belongs to its organization.
-- The row is its own due work: `apply` to be believed or not, `ask` when the rail is to be asked about it first.
create table caudal.rail_notices (
  organization_id uuid not null,
  id              uuid not null,
  rail            text not null check (rail in ('BRE_B', 'PSE')),
  -- The rail's own number of it; null for an answer of the rail to a call of ours.
  notice_id       text collate "C",
  -- The Bre-B key, or our reference at PSE.
  reference       text collate "C" not null,
  kind            text not null,
  execution_id    text collate "C",
  amount_in_cents bigint,
  error_code      text,
  -- The message as it came, encrypted.
  raw             bytea,
  received_at     timestamptz not null,
  task            text,
  due_at          timestamptz,
  attempts        smallint not null default 0,
  leased_until   timestamptz,
  lease_token     uuid,
  -- What came of it.
  outcome         text,
  primary key (organization_id, id),
  constraint notice_kind check (kind in ('paid', 'declined', 'refused', 'unreadable')),
  constraint notice_paid check (kind <> 'paid' or (execution_id is not null and amount_in_cents is not null and amount_in_cents > 0)),
  constraint notice_declined check (kind not in ('declined', 'refused') or error_code is not null),
  constraint notice_due check ((task is null) = (due_at is null) and task in ('apply', 'ask')),
  constraint notice_lease check (num_nonnulls(leased_until, lease_token) in (0, 2)),
  constraint notice_outcome check (outcome in ('applied', 'duplicate', 'unconfirmed'))
) partition by range (id);
-- The few that nobody understood.
create index rail_notices_unreadable on caudal.rail_notices (received_at) where kind = 'unreadable';
create index rail_notices_due on caudal.rail_notices (task, due_at) where due_at is not null;

-- ── Payins ───────────────────────────────────────────────────────────────────────────────────────────────────────────

alter table caudal.payins
  add column settles_at timestamptz,
  add column settlement_id uuid,
  add constraint payin_settles check (settles_at is null or settlement_status = 'PENDING_SETTLEMENT'),
  add constraint payin_settled check ((settlement_id is not null) = (settlement_status is not distinct from 'SETTLED'));
create index payins_settling on caudal.payins (settles_at) where settles_at is not null;

-- Payins of an earlier version that nobody was to ask about. The owner is under row-level security too, hence the pause.
alter table caudal.payins no force row level security;
update caudal.payins set rail_task = 'close', rail_due_at = expires_at
where status in ('PENDING', 'PROCESSING') and rail_task is null;
alter table caudal.payins force row level security;

-- ── Ledger ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Accounts are named, not numbered. `pending`, `available` and `held` are the organization's own and keep a balance;
-- the shared ones (clearing per rail, fees, suspense, treasury) are the house's, keep none and are summed from transfers, so that
-- workers do not queue for one row.
create table caudal.ledger_balances (
  organization_id  uuid not null references caudal.organizations,
  account          text not null check (account in ('pending', 'available', 'held')),
  balance_in_cents bigint not null default 0,
  updated_at       timestamptz not null,
  primary key (organization_id, account),
  constraint balance_not_below_zero check (balance_in_cents >= 0)
)
-- Updated a thousand times a second in place: room for new versions on the same page keeps the index out of it.
with (fillfactor = 20);

-- Immutable: no role may change or delete a row. `organization_id` is whose business it was, also where both accounts
-- are the house's.
create table caudal.ledger_transfers (
  organization_id uuid not null,
  id              uuid not null,
  debit_account   text not null,
  credit_account  text not null,
  amount_in_cents bigint not null,
  cause_kind      text not null,
  cause_id        text collate "C" not null,
  -- The payin, settlement or anomaly it is about.
  resource_id     uuid,
  at              timestamptz not null,
  primary key (organization_id, id),
  constraint transfer_amount check (amount_in_cents > 0),
  constraint transfer_accounts check (
    debit_account <> credit_account
    and debit_account in ('pending', 'available', 'held', 'clearing_bre_b', 'clearing_pse', 'fees', 'suspense', 'treasury')
    and credit_account in ('pending', 'available', 'held', 'clearing_bre_b', 'clearing_pse', 'fees', 'suspense', 'treasury')
  )
) partition by range (id);
-- Sums over a span of time read only its pages; a B-tree would cost every transfer an entry for what runs once an hour.
create index ledger_transfers_span on caudal.ledger_transfers using brin (id);

-- The few among them that a merchant looks for among the many: without these a filter would walk all transfers.
create index ledger_transfers_available on caudal.ledger_transfers (organization_id, id)
  where debit_account = 'available' or credit_account = 'available';
create index ledger_transfers_held on caudal.ledger_transfers (organization_id, id)
  where debit_account = 'held' or credit_account = 'held';

-- One transfer per cause, for ever: its own narrow table, for a partitioned one is unique only within a month.
create table caudal.ledger_causes (
  kind            text not null check (kind in ('payment', 'settlement', 'deposit', 'anomaly')),
  id              text collate "C" not null,
  organization_id uuid not null,
  transfer_id     uuid not null,
  constraint ledger_cause_once primary key (kind, id)
);

-- What shared accounts held of closed spans of time, so that a sum reads only what came since.
create table caudal.ledger_subtotals (
  account text not null,
  through timestamptz not null,
  debits_in_cents  numeric not null,
  credits_in_cents numeric not null,
  primary key (account, through)
);

-- A closed span takes no more transfers. In the moment after a shift of time an id may still be stamped with the time
-- before it, so that no span is closed then.
alter table caudal.deployment add column shifted_at timestamptz;
create or replace function caudal.shift_time(by interval) returns timestamptz
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update caudal.deployment set time_shift = time_shift + by, shifted_at = clock_timestamp();
  perform caudal.make_months(caudal.now() + interval '3 months');
  return caudal.now();
end $$;

create table caudal.settlements (
  organization_id uuid not null,
  id              uuid not null,
  amount_in_cents bigint not null check (amount_in_cents > 0),
  payins          integer not null check (payins > 0),
  at              timestamptz not null,
  primary key (organization_id, id)
);

-- ── Anomalies ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- What a rail said that no state of ours can take up. Its money, if any, is in suspense until an operator decides.
create table caudal.anomalies (
  organization_id uuid not null,
  id              uuid not null,
  payin_id        uuid,
  rail            text not null check (rail in ('BRE_B', 'PSE')),
  kind            text not null,
  reference       text collate "C" not null,
  execution_id    text collate "C",
  -- In suspense; null when no money came.
  amount_in_cents bigint,
  noticed_at      timestamptz not null,
  resolved_at     timestamptz,
  resolution      text,
  resolved_by     text,
  note            text,
  -- Names the odd thing itself, so that hearing of it twice is one row.
  once            text collate "C" not null,
  primary key (organization_id, id),
  constraint anomaly_once unique (organization_id, once),
  constraint anomaly_kind check (kind in ('paid_late', 'paid_again', 'unmatched', 'contradiction', 'unconfirmed')),
  constraint anomaly_amount check (amount_in_cents > 0),
  constraint anomaly_resolution check (
    num_nonnulls(resolved_at, resolution, resolved_by) in (0, 3) and resolution in ('credit', 'dismiss')
    and (resolution <> 'dismiss' or amount_in_cents is null)
  )
);
create index anomalies_open on caudal.anomalies (noticed_at) where resolved_at is null;
create index anomalies_of_payin on caudal.anomalies (organization_id, payin_id);

-- ── Events ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The payload is the body as it will be delivered, made in the transaction of the fact and encrypted.
create table caudal.events (
  organization_id uuid not null,
  id              uuid not null,
  event           text not null,
  resource        text not null check (resource in ('payin', 'payout', 'paymentlink')),
  resource_id     uuid not null,
  payload         bytea not null,
  created_at      timestamptz not null,
  primary key (organization_id, id)
) partition by range (id);

-- One event per final state: the key says so. Cut by the resource's id, so that "once" holds inside one month.
create table caudal.final_events (
  organization_id uuid not null,
  resource_id     uuid not null,
  event_id        uuid not null,
  event           text not null,
  constraint one_final_event primary key (organization_id, resource_id)
) partition by range (resource_id);

-- ── The brake ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- While a row stands, no new order of ours leaves for the rail: for one organization, or for all (the house's id).
create table caudal.rail_pauses (
  rail            text not null check (rail in ('BRE_B', 'PSE')),
  organization_id uuid not null references caudal.organizations,
  reason          text not null check (length(reason) between 1 and 500),
  paused_by       text not null check (length(paused_by) between 1 and 120),
  paused_at       timestamptz not null default caudal.now(),
  primary key (rail, organization_id)
);

-- ── Banks ────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The last good list of the network: which banks it offers today. Names and codes of ours stay in the program.
create table caudal.pse_banks (
  network_code text primary key,
  name         text not null,
  seen_at      timestamptz not null
);

-- ── Months, walls and grants ─────────────────────────────────────────────────────────────────────────────────────────

insert into caudal.monthly_tables values ('rail_notices'), ('ledger_transfers'), ('events'), ('final_events');

call caudal.protect('caudal.rail_notices');
call caudal.protect('caudal.ledger_balances');
call caudal.protect('caudal.ledger_transfers');
call caudal.protect('caudal.ledger_causes');
call caudal.protect('caudal.settlements');
call caudal.protect('caudal.anomalies');
call caudal.protect('caudal.events');
call caudal.protect('caudal.final_events');
call caudal.protect('caudal.rail_pauses');

grant select on caudal.ledger_balances, caudal.ledger_transfers, caudal.anomalies, caudal.pse_banks to caudal_read;
-- A refusal is written down by whoever was refused; applying it is the workers'.
grant insert on caudal.rail_notices to caudal_batch;
grant select, insert, update on caudal.rail_notices, caudal.ledger_balances, caudal.anomalies, caudal.pse_banks to caudal_system;
grant select, insert on caudal.ledger_transfers, caudal.ledger_causes, caudal.ledger_subtotals, caudal.settlements,
  caudal.events, caudal.final_events to caudal_system;
grant select, insert, update, delete on caudal.rail_pauses to caudal_system;

-- A payin's last event lies in the payin's own month: months that an earlier version has payins in need theirs too.
do $$
declare
  month record;
begin
  for month in
    select c.relname, pg_get_expr(c.relpartbound, c.oid) as bound, right(c.relname, 7) as suffix
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'caudal.payins'::regclass
  loop
    execute format('create table if not exists caudal.%I partition of caudal.final_events %s', 'final_events' || month.suffix, month.bound);
    execute format('alter table caudal.%I enable row level security', 'final_events' || month.suffix);
    execute format('alter table caudal.%I force row level security', 'final_events' || month.suffix);
  end loop;
end $$;

-- Organizations of an earlier version get their accounts.
alter table caudal.ledger_balances no force row level security;
alter table caudal.organizations no force row level security;
insert into caudal.ledger_balances (organization_id, account, updated_at)
select o.id, a.account, caudal.now() from caudal.organizations o
cross join (values ('pending'), ('available'), ('held')) as a (account) where not o.is_operator;
alter table caudal.organizations force row level security;
alter table caudal.ledger_balances force row level security;
