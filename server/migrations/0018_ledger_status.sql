-- schema: expand
-- What every worker reports about the ledger as metrics, and `caudal doctor` as findings: kept here, so that it outlives the
-- process that found it out. One row. Times are real times.
create table caudal.ledger_status (
  id                smallint primary key default 1 check (id = 1),
  -- Balance of the account suspense; null until a worker has computed it. Workers update it when it changes.
  suspense_in_cents bigint,
  -- The last verification; null before the first.
  verified_at       timestamptz,
  verified_by       text constraint ledger_verified_by check (verified_by in ('schedule', 'command')),
  inconsistencies   integer constraint ledger_inconsistencies check (inconsistencies >= 0),
  -- False: it stopped after many inconsistent rows, before the remaining checks.
  complete          boolean,
  constraint ledger_verification check (
    num_nulls(verified_at, verified_by, inconsistencies, complete) in (0, 4) and (complete or inconsistencies > 0))
);
insert into caudal.ledger_status default values;
grant select, update (suspense_in_cents, verified_at, verified_by, inconsistencies, complete)
  on caudal.ledger_status to caudal_system;
