-- Payout limits of an organization and of its API keys, and the misses that declined payouts cost.

-- Null in a column: no such limit. Zero: nothing may be paid. Days are days in Bogotá.
create table caudal.payout_limits (
  organization_id uuid not null references caudal.organizations,
  -- Empty: the limits of the organization. Otherwise the limits of one of its API keys, which apply in addition.
  api_key_id      text not null constraint payout_limit_key check (api_key_id ~ '^([0-9A-HJKMNP-TV-Z]{16})?$'),
  day_amount_in_cents          bigint constraint payout_limit_day_amount check (day_amount_in_cents >= 0),
  day_count                    integer constraint payout_limit_day_count check (day_count >= 0),
  receiver_day_amount_in_cents bigint constraint payout_limit_receiver_amount check (receiver_day_amount_in_cents >= 0),
  receiver_day_count           integer constraint payout_limit_receiver_count check (receiver_day_count >= 0),
  -- How long a payout waits whose receiver the organization has never paid before.
  new_receiver_hold_seconds    integer constraint payout_limit_hold check (new_receiver_hold_seconds between 1 and 2592000),
  updated_at      timestamptz not null default caudal.now(),
  primary key (organization_id, api_key_id)
);

-- Payouts of a day that are not declined or canceled, kept only where `payout_limits` has a row. Written only by
-- transactions that hold the lock of the organization's balances. Without a row, nothing was paid that day.
create table caudal.payout_usage (
  organization_id uuid not null references caudal.organizations,
  api_key_id      text not null,
  day             date not null,
  payouts         integer not null constraint payout_usage_count check (payouts >= 0),
  amount_in_cents bigint not null constraint payout_usage_amount check (amount_in_cents >= 0),
  primary key (organization_id, api_key_id, day)
) with (fillfactor = 20);

call caudal.protect('caudal.payout_limits');
call caudal.protect('caudal.payout_usage');

-- Only the system role changes limits; the merchants' role reads them and counts what it creates and cancels.
grant select (organization_id, api_key_id, day_amount_in_cents, day_count, receiver_day_amount_in_cents, receiver_day_count,
  new_receiver_hold_seconds) on caudal.payout_limits to caudal_batch;
grant select, delete, insert (organization_id, api_key_id, day_amount_in_cents, day_count, receiver_day_amount_in_cents,
  receiver_day_count, new_receiver_hold_seconds), update (day_amount_in_cents, day_count, receiver_day_amount_in_cents,
  receiver_day_count, new_receiver_hold_seconds, updated_at) on caudal.payout_limits to caudal_system;
grant select (organization_id, api_key_id, day, payouts, amount_in_cents),
  insert (organization_id, api_key_id, day, payouts, amount_in_cents), update (payouts, amount_in_cents)
  on caudal.payout_usage to caudal_batch;
grant select, delete, insert (organization_id, api_key_id, day, payouts, amount_in_cents), update (payouts, amount_in_cents)
  on caudal.payout_usage to caudal_system;

-- Set when the payout waits because its receiver is new; it is not sent before.
alter table caudal.payouts add column held_until timestamptz;
grant select (held_until), insert (held_until) on caudal.payouts to caudal_batch, caudal_system;

-- A payout that is declined because of its key takes a miss, also from an organization that never looked up a key.
grant insert (organization_id, lookups, misses, filled_at) on caudal.lookup_buckets to caudal_system;

-- Commands may have a hyphen: `org payout-limits` writes `org.payout-limits`.
alter table caudal.operator_actions
  drop constraint operator_action_code,
  add constraint operator_action_code check (action ~ '^[a-z]+([.][a-z]+(-[a-z]+)*)?$');
