-- No payin settles on a notification alone: a status that the service queried must have listed its payment first.

alter table caudal.payins
  -- The execution that confirmed the payin. Null in rows that an earlier version confirmed.
  add column payment_execution_id text collate "C",
  -- When a status that we queried first listed that execution, with that amount.
  add column payment_verified_at timestamptz,
  -- When an operator released the settlement of a payment that the rail does not list.
  add column settlement_released_at timestamptz,
  drop constraint payin_settlement_status;
-- Not validated: no earlier row violates them, and a scan would hold the lock on every month.
alter table caudal.payins
  add constraint payin_settlement_status check (settlement_status in ('PENDING_SETTLEMENT', 'SETTLED', 'REVERSED')) not valid,
  add constraint payin_verification check (num_nonnulls(payment_verified_at, settlement_released_at) <= 1) not valid,
  add constraint payin_reversed check (
    settlement_status is distinct from 'REVERSED'
    or (status = 'CONFIRMED' and num_nonnulls(settles_at, payment_verified_at, settlement_released_at) = 0)
  ) not valid;

-- Every payin of a settlement has a verified or a released payment. False for the settlements of earlier versions, which
-- `ledger verify` cannot check.
alter table caudal.settlements add column verified boolean not null default false;
alter table caudal.settlements alter column verified set default true;

-- A reversal takes the booking of a payment back; its execution may then be booked once more, if the rail lists it after all.
-- Both are added to whichever kinds the constraints allow at this point.
do $$
declare
  causes text := (
    select pg_get_expr(conbin, conrelid) from pg_constraint
    where conrelid = 'caudal.ledger_causes'::regclass and conname = 'ledger_causes_kind_check'
  );
  kinds text := (
    select pg_get_expr(conbin, conrelid) from pg_constraint
    where conrelid = 'caudal.anomalies'::regclass and conname = 'anomaly_kind'
  );
begin
  alter table caudal.ledger_causes drop constraint ledger_causes_kind_check;
  execute format(
    'alter table caudal.ledger_causes add constraint ledger_causes_kind_check check ((%s) or kind in (%L, %L)) not valid',
    causes, 'payment_reversal', 'payment_relisted');
  alter table caudal.anomalies drop constraint anomaly_kind;
  execute format(
    'alter table caudal.anomalies add constraint anomaly_kind check ((%s) or kind = %L)', kinds, 'payment_not_listed');
end $$;

-- A held payin is decided by an operator (`release`, `reverse`), or by the rail that lists the payment after all (`listed`).
-- Its money is the merchant's pending money, not in suspense: the anomaly has no amount.
alter table caudal.anomalies
  drop constraint anomaly_resolution,
  add constraint anomaly_resolution check (
    num_nonnulls(resolved_at, resolution, resolved_by) in (0, 3)
    and resolution in ('credit', 'return', 'charge', 'write_off', 'dismiss', 'release', 'reverse', 'listed')
    and (resolution not in ('credit', 'return') or amount_in_cents > 0)
    and (resolution not in ('charge', 'write_off') or amount_in_cents < 0)
    and (resolution <> 'dismiss' or (amount_in_cents is null and kind <> 'payment_not_listed'))
    and (resolution not in ('release', 'reverse', 'listed') or kind = 'payment_not_listed')
  ),
  add constraint anomaly_not_listed check (
    kind <> 'payment_not_listed' or (payin_id is not null and amount_in_cents is null)
  );
