-- A role that reads everything and writes nothing, for pg_dump: forced row-level security hides every row from the owner.

grant usage on schema caudal to caudal_backup;
grant select on all tables in schema caudal to caudal_backup;
grant select on all sequences in schema caudal to caudal_backup;
alter default privileges in schema caudal grant select on tables to caudal_backup;
alter default privileges in schema caudal grant select on sequences to caudal_backup;

-- A dump reads each month by its own name, past the policies of its parent.
create procedure caudal.let_backup_read(target regclass)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('create policy backup on %s for select to caudal_backup using (true)', target);
end $$;
revoke execute on procedure caudal.let_backup_read(regclass) from public;

do $$
declare
  target regclass;
begin
  for target in
    select c.oid::regclass from pg_class c
    where c.relnamespace = 'caudal'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity
  loop
    call caudal.let_backup_read(target);
  end loop;
end $$;

create or replace procedure caudal.protect(target regclass, owner name default 'organization_id')
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy one_organization on %s to caudal_read using (%I = (select caudal.current_organization()))', target, owner);
  execute format('create policy organizations_of_the_batch on %s to caudal_batch using (%I = any ((select caudal.batch_organizations())::uuid[])) with check (%I = any ((select caudal.batch_organizations())::uuid[]))', target, owner, owner);
  execute format('create policy system on %s to caudal_system using (true) with check (true)', target);
  call caudal.let_backup_read(target);
end $$;

create or replace function caudal.make_months(until timestamptz) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- A month added in another time zone ends on another day: months would overlap or leave a gap.
  set timezone = 'UTC'
as $$
declare
  parent text;
  month  timestamptz;
  child  text;
  made   integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('caudal.make_months'));
  for parent in select name from caudal.monthly_tables order by name loop
    month := date_trunc('month', caudal.now(), 'UTC');
    while month <= until loop
      child := format('%s_%s', parent, to_char(month at time zone 'UTC', 'YYYYMM'));
      if to_regclass('caudal.' || quote_ident(child)) is null then
        execute format('create table caudal.%I (like caudal.%I including defaults including constraints including storage)', child, parent);
        -- Merchants' roles reach it only through the parent, whose policies apply; the backup role also directly.
        execute format('alter table caudal.%I enable row level security', child);
        execute format('alter table caudal.%I force row level security', child);
        call caudal.let_backup_read(format('caudal.%I', child)::regclass);
        execute format('alter table caudal.%I attach partition caudal.%I for values from (%L) to (%L)',
          parent, child, caudal.uuid_floor(month), caudal.uuid_floor(month + interval '1 month'));
        made := made + 1;
      end if;
      month := month + interval '1 month';
    end loop;
  end loop;
  return made;
end $$;
