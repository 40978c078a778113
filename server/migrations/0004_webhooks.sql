-- Events reach the merchant: endpoints, deliveries, attempts.

-- ── Endpoints ────────────────────────────────────────────────────────────────────────────────────────────────────────

create table caudal.webhook_endpoints (
  organization_id uuid not null references caudal.organizations,
  id              uuid not null,
  -- Encrypted: an address may carry a secret of the merchant's.
  address         bytea not null,
  -- Which events it gets; null means all.
  events          text[],
  description     text check (length(description) between 1 and 200),
  static_header   bytea,
  secret          bytea not null,
  -- Signs beside the new one until then.
  previous_secret bytea,
  previous_until  timestamptz,
  status          text not null check (status in ('ENABLED', 'DISABLED')),
  disabled_reason text,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- Kept for its deliveries; nothing is sent to it any more.
  deleted_at      timestamptz,
  primary key (organization_id, id),
  constraint endpoint_disabled check ((status = 'DISABLED') = (disabled_reason is not null)),
  constraint endpoint_previous check (num_nonnulls(previous_secret, previous_until) in (0, 2))
);

-- The line in front of each endpoint, apart from it because it changes with every delivery. Senders take lines, not
-- deliveries: an endpoint that hangs holds up its own line and no other.
create table caudal.webhook_queues (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  -- Whether its endpoint is enabled. Said here too, for who puts a line to rest and who opens it again must meet on one row.
  open            boolean not null default true,
  -- When somebody is to look at it next; null when there is nothing to send, or while somebody is at it.
  due_at          timestamptz,
  -- Attempts that failed in a row, and since when none has succeeded.
  failures        integer not null default 0,
  failing_since   timestamptz,
  leased_until   timestamptz,
  lease_token     uuid,
  primary key (organization_id, endpoint_id),
  constraint queue_lease check (num_nonnulls(leased_until, lease_token) in (0, 2))
) with (fillfactor = 50);
-- Apart, because those that fail are many when something large is down, and have places of their own.
create index webhook_queues_due on caudal.webhook_queues (due_at) where due_at is not null and failures = 0;
create index webhook_queues_failing on caudal.webhook_queues (due_at) where due_at is not null and failures > 0;
create index webhook_queues_leased on caudal.webhook_queues (leased_until) where leased_until is not null;

-- A test event is about nothing but the endpoint it is sent to.
alter table caudal.events drop constraint events_resource_check;
alter table caudal.events add constraint events_resource_check check (resource in ('payin', 'payout', 'paymentlink', 'webhook'));

-- ── Deliveries ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- An event is dispatched once, by whoever finds it: its own transaction, the one that moves money, knows no endpoint.
alter table caudal.events add column undispatched boolean not null default false;
create index events_undispatched on caudal.events (id) where undispatched;

-- Cut by the event's id, like all that belongs to it.
create table caudal.webhook_deliveries (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  event_id        uuid not null,
  id              uuid not null,
  status          text not null check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts        smallint not null default 0,
  -- How often it was replayed, and the attempts made before the last time: the delays begin anew, and what comes of a send
  -- that was under way does not end a round that began since.
  replays         smallint not null default 0,
  attempts_before smallint not null default 0,
  next_attempt_at timestamptz,
  give_up_at      timestamptz not null,
  created_at      timestamptz not null,
  ended_at        timestamptz,
  primary key (organization_id, endpoint_id, event_id),
  constraint delivery_pending check ((status = 'PENDING') = (next_attempt_at is not null) and (status = 'PENDING') = (ended_at is null))
) partition by range (event_id);
create index webhook_deliveries_due on caudal.webhook_deliveries (endpoint_id, next_attempt_at) where next_attempt_at is not null;
create index webhook_deliveries_of_event on caudal.webhook_deliveries (organization_id, event_id);

create table caudal.webhook_attempts (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  event_id        uuid not null,
  number          smallint not null,
  at              timestamptz not null,
  status_code     smallint,
  duration_ms     integer not null,
  error           text,
  -- The first bytes of the answer, encrypted: nobody knows what an endpoint answers.
  answer          bytea,
  primary key (organization_id, endpoint_id, event_id, number)
) partition by range (event_id);

-- ── Months, walls and grants ─────────────────────────────────────────────────────────────────────────────────────────

insert into caudal.monthly_tables values ('webhook_deliveries'), ('webhook_attempts');

call caudal.protect('caudal.webhook_endpoints');
call caudal.protect('caudal.webhook_queues');
call caudal.protect('caudal.webhook_deliveries');
call caudal.protect('caudal.webhook_attempts');

grant select on caudal.webhook_endpoints, caudal.webhook_queues, caudal.webhook_deliveries, caudal.webhook_attempts, caudal.events, caudal.final_events to caudal_read;
grant select, insert, update on caudal.webhook_endpoints, caudal.webhook_queues, caudal.webhook_deliveries to caudal_batch;
grant select on caudal.events to caudal_batch;
grant select, update on caudal.webhook_endpoints to caudal_system;
grant select, insert, update on caudal.webhook_queues, caudal.webhook_deliveries to caudal_system;
grant select, insert on caudal.webhook_attempts to caudal_system;
grant update (undispatched) on caudal.events to caudal_system;

-- Events that an earlier version recorded belong to months that deliveries and attempts need too: a replay may name them.
do $$
declare
  month record;
  parent text;
begin
  foreach parent in array array['webhook_deliveries', 'webhook_attempts'] loop
    for month in
      select c.relname, pg_get_expr(c.relpartbound, c.oid) as bound, right(c.relname, 7) as suffix
      from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'caudal.events'::regclass
    loop
      execute format('create table if not exists caudal.%I partition of caudal.%I %s', parent || month.suffix, parent, month.bound);
      execute format('alter table caudal.%I enable row level security', parent || month.suffix);
      execute format('alter table caudal.%I force row level security', parent || month.suffix);
    end loop;
  end loop;
end $$;
