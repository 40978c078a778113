/**
 * Baseline of a creation: the same rows in one statement (one round trip, one commit), as superuser (no row-level
 * security), with values generated in the database. Everything optional is left out, so that the ratio does not flatter
 * Caudal. It does not include the later key registration, which Caudal's result does. `:org` is the organization.
 */
export const CREATE_PAYIN = `\\set n random(1, 1000000000000000)
with id as (select uuidv7() as id, caudal.now() as at),
reservation as (
  insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
  select :org, uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid()), id, at from id
  on conflict on constraint idempotency_key_once do update set repeats = idempotency_keys.repeats + 1),
name as (
  insert into caudal.resource_references (organization_id, kind, reference, resource_id)
  select :org, 'payin', 'order-' || :client_id || '-' || :n, id from id
  on conflict on constraint reference_once do update set repeats = resource_references.repeats + 1),
history as (
  insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
  select :org, id, 'NONE', 'PROCESSING', 'created', at from id),
key as (
  insert into caudal.breb_keys (key, organization_id, payin_id, minted_at, register_due_at, leased_until, lease_token)
  select '@CDL01301' || upper(substr(replace(id::text, '-', ''), 20, 10)), :org, id, at, at, clock_timestamp() + interval '20 seconds', id from id)
insert into caudal.payins (organization_id, id, amount_in_cents, currency, rail, status, reference, customer, callback_url,
  breb_key_type, breb_key, created_at, updated_at, expires_at, rail_task, rail_due_at)
select :org, id, 4980000, 'COP', 'BRE_B', 'PROCESSING', 'order-' || :client_id || '-' || :n,
  decode(repeat('ab', 165), 'hex'), 'https://shop.example.com/thanks', 'SINGLE_USE',
  '@CDL01301' || upper(substr(replace(id::text, '-', ''), 20, 10)), at, at, at + interval '1 hour', 'poll', at + interval '30 seconds'
from id;
`;
