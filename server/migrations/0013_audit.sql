-- Every operator command that changes something writes an audit row, in the transaction of the change. Commands that cannot
-- run in one transaction write a row before and one after.
alter table caudal.operator_actions
  drop constraint operator_actions_pkey,
  add primary key (id),
  alter column id set default gen_random_uuid(),
  -- Null: the action concerns the whole deployment (migrate, secrets rewrap, a pause for every organization).
  alter column organization_id drop not null,
  alter column resource_id drop not null,
  alter column resource_id type text using resource_id::text,
  add column phase text not null default 'done',
  -- Facts of the action for programs. Never personal data, never a secret.
  add column details jsonb not null default '{}',
  add constraint operator_action_phase check (phase in ('done', 'started', 'finished', 'failed')),
  add constraint operator_action_details check (jsonb_typeof(details) = 'object' and length(details::text) <= 10000),
  add constraint operator_action_resource check (length(resource_id) between 1 and 300),
  -- Rows of earlier versions keep the text they were written with.
  add constraint operator_action_code check (action ~ '^[a-z]+([.][a-z]+)?$') not valid;
alter table caudal.operator_actions rename column resource_id to resource;

-- Filters of `audit list`.
create index operator_actions_of_organization on caudal.operator_actions (organization_id, at);
create index operator_actions_by_operator on caudal.operator_actions (operator, at);
create index operator_actions_by_action on caudal.operator_actions (action, at);

-- Privileges already refuse changes to the roles of the server. The trigger refuses them to the owner and to superusers too.
create function caudal.refuse_audit_change() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'caudal.operator_actions is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on caudal.operator_actions
  for each statement execute function caudal.refuse_audit_change();

-- A reversal is caused by the transfer it reverses, so each transfer is reversed at most once. Added to whichever kinds the
-- constraint allows at this point.
do $$
declare
  allowed text := (
    select pg_get_expr(conbin, conrelid) from pg_constraint
    where conrelid = 'caudal.ledger_causes'::regclass and conname = 'ledger_causes_kind_check'
  );
begin
  alter table caudal.ledger_causes drop constraint ledger_causes_kind_check;
  execute format('alter table caudal.ledger_causes add constraint ledger_causes_kind_check check ((%s) or kind = %L)', allowed, 'reversal');
end $$;

-- A resolution that was reversed opens its anomaly again; the next one has a ledger cause of its own.
alter table caudal.anomalies add column reversals integer not null default 0 check (reversals >= 0);
grant update (reversals) on caudal.anomalies to caudal_system;
