-- Events and their delivery: the outbox, endpoints, endpoint queues, deliveries, attempts.

-- ── Events ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The payload is the body that is delivered: built in the transaction of the fact, and encrypted.
create table caudal.events (
  organization_id uuid not null,
  id              uuid not null,
  event           text not null,
  -- `webhook`: a test event of an endpoint.
  resource        text not null check (resource in ('payin', 'payout', 'paymentlink', 'webhook')),
  resource_id     uuid not null,
  payload         bytea not null,
  created_at      timestamptz not null,
  -- Set until a dispatcher has created the deliveries. The transaction that moves money reads no endpoint.
  undispatched    boolean not null default false,
  primary key (organization_id, id)
) partition by range (id);
create index events_undispatched on caudal.events (id) where undispatched;
-- Pages and streams of a rare event name; without it they would read all events.
create index events_by_name on caudal.events (organization_id, event, id);

-- At most one event per final state. Partitioned by the resource's id, so that uniqueness holds within one month.
create table caudal.final_events (
  organization_id uuid not null,
  resource_id     uuid not null,
  event_id        uuid not null,
  event           text not null,
  constraint one_final_event primary key (organization_id, resource_id)
) partition by range (resource_id);

-- ── Endpoints ────────────────────────────────────────────────────────────────────────────────────────────────────────

create table caudal.webhook_endpoints (
  organization_id uuid not null references caudal.organizations,
  id              uuid not null,
  -- Encrypted, because a URL may carry a secret of the merchant.
  address         bytea not null,
  -- Event names that it receives; null means all.
  events          text[],
  description     text check (length(description) between 1 and 200),
  static_header   bytea,
  secret          bytea not null,
  -- Two earlier secrets sign beside the current one until these times: a client that retries a rotation whose response was
  -- lost has rotated twice, and its receiver still knows the first secret.
  previous_secret bytea,
  previous_until  timestamptz,
  older_secret    bytea,
  older_until     timestamptz,
  status          text not null check (status in ('ENABLED', 'DISABLED')),
  disabled_reason text,
  -- The response to its creation, for an idempotent retry. Encrypted, because it contains the secret.
  created_as      bytea,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- Kept for its deliveries; nothing is sent to it.
  deleted_at      timestamptz,
  primary key (organization_id, id),
  constraint endpoint_disabled check ((status = 'DISABLED') = (disabled_reason is not null)),
  constraint endpoint_previous check (num_nonnulls(previous_secret, previous_until) in (0, 2)),
  constraint endpoint_older check (num_nonnulls(older_secret, older_until) in (0, 2))
);
-- Endpoints that may receive an event, without the deleted ones.
create index webhook_endpoints_living on caudal.webhook_endpoints (organization_id, id) where deleted_at is null;

-- The delivery queue of each endpoint, in a table of its own because it changes with every delivery. Senders lease queues and
-- not deliveries: a hanging endpoint delays only its own queue.
create table caudal.webhook_queues (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  -- Whether the endpoint is enabled. Stored here too, because pausing and resuming a queue must lock the same row.
  open            boolean not null default true,
  -- Next time a sender leases it; null when there is nothing to send, or while a sender holds the lease.
  due_at          timestamptz,
  -- The endpoint is not called before this time, whatever is added to the queue.
  rest_until      timestamptz,
  -- More than one batch is waiting. Senders prefer queues without a backlog.
  backlogged      boolean not null default false,
  -- Consecutive failed attempts, and since when none has succeeded.
  failures        integer not null default 0,
  failing_since   timestamptz,
  leased_until    timestamptz,
  lease_token     uuid,
  primary key (organization_id, endpoint_id),
  constraint queue_lease check (num_nonnulls(leased_until, lease_token) in (0, 2))
) with (fillfactor = 50);
-- One index each, because failing queues are many during a large outage and have delivery slots of their own.
create index webhook_queues_due on caudal.webhook_queues (due_at) where due_at is not null and failures = 0 and not backlogged;
create index webhook_queues_backlogged on caudal.webhook_queues (due_at) where due_at is not null and failures = 0 and backlogged;
create index webhook_queues_failing on caudal.webhook_queues (due_at) where due_at is not null and failures > 0;
create index webhook_queues_leased on caudal.webhook_queues (leased_until) where leased_until is not null;

-- ── Deliveries ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- Partitioned by the event's id, like everything that belongs to an event.
create table caudal.webhook_deliveries (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  event_id        uuid not null,
  id              uuid not null,
  status          text not null check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts        smallint not null default 0,
  -- Number of replays, and the attempts before the last one: a replay restarts the retry schedule, and the result of a send
  -- that started before it does not end the new schedule.
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
-- Failed and failing deliveries, for replays.
create index webhook_deliveries_failed on caudal.webhook_deliveries (organization_id, event_id)
  where status = 'FAILED' or (status = 'PENDING' and attempts > attempts_before);

create table caudal.webhook_attempts (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  event_id        uuid not null,
  number          smallint not null,
  at              timestamptz not null,
  status_code     smallint,
  duration_ms     integer not null,
  error           text,
  -- First bytes of the response, encrypted, because a response may contain anything.
  answer          bytea,
  primary key (organization_id, endpoint_id, event_id, number)
) partition by range (event_id);

-- ── Partitions, row-level security and grants ────────────────────────────────────────────────────────────────────────

insert into caudal.monthly_tables (name, detachable) values
  ('events', true), ('final_events', false), ('webhook_deliveries', true), ('webhook_attempts', true);

call caudal.protect('caudal.events');
call caudal.protect('caudal.final_events');
call caudal.protect('caudal.webhook_endpoints');
call caudal.protect('caudal.webhook_queues');
call caudal.protect('caudal.webhook_deliveries');
call caudal.protect('caudal.webhook_attempts');

grant select on caudal.events, caudal.final_events, caudal.webhook_endpoints, caudal.webhook_queues, caudal.webhook_deliveries,
  caudal.webhook_attempts to caudal_read;

-- The final event of a payout that is declined at creation or canceled is inserted by the merchants' role.
grant select, insert on caudal.events to caudal_batch;
grant insert on caudal.final_events to caudal_batch;
grant select, insert, update on caudal.webhook_endpoints, caudal.webhook_queues, caudal.webhook_deliveries to caudal_batch;

grant select, insert, update (undispatched) on caudal.events to caudal_system;
grant select, insert on caudal.final_events, caudal.webhook_attempts to caudal_system;
grant select, update on caudal.webhook_endpoints to caudal_system;
grant select, insert, update on caudal.webhook_queues, caudal.webhook_deliveries to caudal_system;
