-- Webhooks at the size they are for: ten thousand endpoints, a thousand events a second, a backlog of a million.

-- Deleted endpoints stay for their deliveries. Whoever looks for those that want an event does not read them.
create index webhook_endpoints_living on caudal.webhook_endpoints (organization_id, id) where deleted_at is null;

alter table caudal.webhook_queues
  -- Before that its endpoint is left alone, whatever comes into the line.
  add column rest_until timestamptz,
  -- More than a turn's worth waits in it. Such lines come after those in which somebody's next event is.
  add column backlogged boolean not null default false;
drop index caudal.webhook_queues_due;
create index webhook_queues_due on caudal.webhook_queues (due_at) where due_at is not null and failures = 0 and not backlogged;
create index webhook_queues_backlogged on caudal.webhook_queues (due_at) where due_at is not null and failures = 0 and backlogged;

-- Events by their name: a page or a stream of a rare one would read all there are.
create index events_by_name on caudal.events (organization_id, event, id);

-- What failed or is failing, for replays: among all that was ever delivered it is little.
create index webhook_deliveries_failed on caudal.webhook_deliveries (organization_id, event_id)
  where status = 'FAILED' or (status = 'PENDING' and attempts > attempts_before);

-- One more secret that signs beside the new one: whoever repeats a rotation whose answer was lost has made two, and the
-- receiver still knows the first.
alter table caudal.webhook_endpoints
  add column older_secret bytea,
  add column older_until  timestamptz,
  add constraint endpoint_older check (num_nonnulls(older_secret, older_until) in (0, 2));

-- What its creation was answered, for a repeat of that request: encrypted, for the secret is in it.
alter table caudal.webhook_endpoints add column created_as bytea;
