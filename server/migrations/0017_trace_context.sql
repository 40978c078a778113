-- schema: expand
-- The position in the trace of the request that created a resource: trace id, span id and flags, 25 bytes. Workers continue
-- the trace from it, in any process. Null: the request was not sampled, or tracing is off.
-- One table per step: a transaction that waits for the second lock would block the writers of the first table meanwhile.

-- step
alter table caudal.payins add column trace_context bytea;
grant insert (trace_context) on caudal.payins to caudal_batch;
-- step
alter table caudal.payouts add column trace_context bytea;
grant insert (trace_context) on caudal.payouts to caudal_batch, caudal_system;
-- step
alter table caudal.payment_links add column trace_context bytea;
grant insert (trace_context) on caudal.payment_links to caudal_batch;
-- step
-- Copied from the resource, so that the sender of webhooks does not read the resource again.
alter table caudal.events add column trace_context bytea;
grant insert (trace_context) on caudal.events to caudal_batch, caudal_system;
