-- One execution of a rail is accounted for once: by the payout it confirmed, or by the anomaly that holds its money. A
-- permanent table of its own, because a partitioned table is unique only within a month. No foreign key: payouts are
-- partitioned.
create table caudal.payout_executions (
  rail            text not null check (rail = 'BRE_B'),
  execution_id    text collate "C" not null,
  organization_id uuid not null,
  -- Null for money of an order that names no payout of ours.
  payout_id       uuid,
  constraint payout_execution_once primary key (rail, execution_id)
);

call caudal.protect('caudal.payout_executions');
grant select, insert on caudal.payout_executions to caudal_system;

-- What earlier versions recorded. Where two payouts carry one execution, the first keeps it, and `ledger verify` names the
-- other. The owner is under row-level security too, hence the pause.
alter table caudal.payouts no force row level security;
alter table caudal.anomalies no force row level security;
alter table caudal.payout_executions no force row level security;
insert into caudal.payout_executions (rail, execution_id, organization_id, payout_id)
select rail, execution_id, organization_id, id from caudal.payouts where execution_id is not null
order by rail, execution_id, result_at, id
on conflict do nothing;
insert into caudal.payout_executions (rail, execution_id, organization_id, payout_id)
select rail, execution_id, organization_id, payout_id from caudal.anomalies
where amount_in_cents < 0 and execution_id is not null and rail = 'BRE_B'
order by rail, execution_id, noticed_at, id
on conflict do nothing;
alter table caudal.payout_executions force row level security;
alter table caudal.anomalies force row level security;
alter table caudal.payouts force row level security;

-- What the rail reported when it was last queried about an open payout; `unanswered` when it did not. Shows operators why
-- a payout waits.
alter table caudal.payouts add column rail_status text,
  add constraint payout_rail_status check (rail_status in ('processing', 'settled', 'rejected', 'not_found', 'unanswered'));
grant update (rail_status) on caudal.payouts to caudal_system;
