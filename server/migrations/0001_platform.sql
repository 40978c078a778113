-- Foundation: schema, deployment, business time, ids, monthly partitions, row-level security.
--
-- `caudal migrate` creates the roles (caudal_read, caudal_batch, caudal_system, caudal_backup) before this file runs,
-- because roles belong to the cluster and not to the database. It replaces the prefix of their names by
-- CAUDAL_DATABASE_ROLE_PREFIX.

create schema caudal;
revoke all on schema caudal from public;
grant usage on schema caudal to caudal_read, caudal_batch, caudal_system, caudal_backup;

-- The backup role reads everything and writes nothing: pg_dump runs as it, because forced row-level security hides every
-- row from the owner.
alter default privileges in schema caudal grant select on tables to caudal_backup;
alter default privileges in schema caudal grant select on sequences to caudal_backup;

-- ── Deployment and time ──────────────────────────────────────────────────────────────────────────────────────────────

-- One row: the environment and cell that this database permanently belongs to, and the time shift of tests.
create table caudal.deployment (
  only_row    boolean primary key default true check (only_row),
  environment text not null check (environment in ('development', 'staging', 'production')),
  cell        smallint not null check (cell between 0 and 1023),
  time_shift  interval not null default interval '0',
  -- Time of the last shift. Right after it an id may still carry the time before it, so no ledger span is closed then.
  shifted_at  timestamptz,
  constraint production_time_is_never_shifted check (environment <> 'production' or time_shift = interval '0')
);

-- Business time: created, due and expiry times. Truncated to milliseconds, which is what the API returns, so that
-- comparisons use the value that clients see.
create function caudal.now() returns timestamptz
  language sql stable parallel safe
  return date_trunc('milliseconds', pg_catalog.now() + (select time_shift from caudal.deployment));

-- ── Ids ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Smallest UUIDv7 of a time: partitions are bounded by time through the id. A time before 1970 has the smallest id.
create function caudal.uuid_floor(at timestamptz) returns uuid
  language sql immutable strict parallel safe
  return (lpad(to_hex(greatest(0, (extract(epoch from at) * 1000)::bigint)), 12, '0') || repeat('0', 20))::uuid;

-- Ids carry the time at which they were stamped. Lists, subtotals and the event stream rely on it, so id time never goes
-- back for the deployment, although the database's clock may (a correction, a failover to a host whose clock is behind).

-- No id is later than `high_water` plus 40 seconds. Written at most every 20 seconds, before ids beyond it are stamped.
create table caudal.id_clock (
  only_row   boolean primary key default true check (only_row),
  high_water timestamptz not null
);
insert into caudal.id_clock (high_water) values ('epoch');

-- Steps back of the database's clock. From `from_at` to `until_at` ids run ahead of business time: they start at `ids_from`
-- and advance at half its speed until business time has caught up.
create table caudal.clock_steps (
  number      bigint generated always as identity primary key,
  from_at     timestamptz not null,
  ids_from    timestamptz not null,
  until_at    timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  constraint clock_step_back check (from_at < ids_from and ids_from < until_at)
);

-- The time that ids are stamped with at a given business time.
create function caudal.id_time(at timestamptz) returns timestamptz
  language sql stable parallel safe
  return coalesce((
    select s.ids_from + (at - s.from_at) / 2 from caudal.clock_steps s
    where s.from_at <= at and s.until_at > at order by s.number desc limit 1
  ), at);

-- Upper bound of the ids of rows created before `until`. The minute covers clock differences between processes.
create function caudal.id_ceiling(until timestamptz) returns uuid
  language sql stable parallel safe
  return caudal.uuid_floor(
    greatest(until, (select max(s.until_at) from caudal.clock_steps s where s.from_at < until)) + interval '1 minute');

-- Raises the high-water mark to the present, and records a step back when the present is before it. The commit does not wait
-- for disk or standby: any later commit that carries an id flushes this one first, because both are in one log.
create function caudal.advance_id_clock() returns timestamptz
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  at timestamptz := caudal.now();
  high timestamptz;
  ids timestamptz;
begin
  perform set_config('synchronous_commit', 'off', true);
  select high_water into high from caudal.id_clock for update;
  ids := caudal.id_time(at);
  if ids < high - interval '10 seconds' then
    -- Starts a minute early, for rows created since the step. The present is then 45 seconds after the high-water mark:
    -- after every existing id, and within the minute that readers of the event stream look back.
    insert into caudal.clock_steps (from_at, ids_from, until_at)
    values (at - interval '1 minute', high + interval '15 seconds',
      at - interval '1 minute' + 2 * (high + interval '15 seconds' - (at - interval '1 minute')));
    ids := caudal.id_time(at);
  end if;
  if ids > high then
    update caudal.id_clock set high_water = ids;
    high := ids;
  end if;
  return high;
end $$;

-- ── Monthly partitions ───────────────────────────────────────────────────────────────────────────────────────────────

create table caudal.monthly_tables (
  name       text primary key,
  -- Whether `caudal months detach` may detach a month of this table once everything in it has ended. Tables that the ledger
  -- is made of or verified against stay, and so does the payer's consent. `final_events` stays too: it is narrow, and it
  -- prevents a second final event.
  detachable boolean not null default false
);

-- The backup role reads each month by its own name, past the policies of the parent.
create procedure caudal.grant_backup_read(target regclass)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('create policy backup on %s for select to caudal_backup using (true)', target);
end $$;

-- Creates the partitions from this month to the month of `until`. A new month is created as a table and then attached,
-- because "create table … partition of" would lock the parent against all readers and writers.
create function caudal.make_months(until timestamptz) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- In another time zone a month ends on another day: months would overlap or leave a gap.
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
        call caudal.grant_backup_read(format('caudal.%I', child)::regclass);
        execute format('alter table caudal.%I attach partition caudal.%I for values from (%L) to (%L)',
          parent, child, caudal.uuid_floor(month), caudal.uuid_floor(month + interval '1 month'));
        made := made + 1;
      end if;
      month := month + interval '1 month';
    end loop;
  end loop;
  return made;
end $$;

-- Whether every monthly table has its next month. /readyz fails otherwise.
create function caudal.months_ready() returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
  return not exists (
    select from caudal.monthly_tables t
    where to_regclass(format('caudal.%I', t.name || '_' || to_char((date_trunc('month', caudal.now(), 'UTC') + interval '1 month') at time zone 'UTC', 'YYYYMM'))) is null
  );

-- For tests and staging: lets an hour of expiry or thirty days of retries pass at once. The check constraint on
-- deployment rejects it in production.
create function caudal.shift_time(by interval) returns timestamptz
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update caudal.deployment set time_shift = time_shift + by, shifted_at = clock_timestamp();
  perform caudal.make_months(caudal.now() + interval '3 months');
  return caudal.now();
end $$;

-- ── Row-level security ───────────────────────────────────────────────────────────────────────────────────────────────

create function caudal.current_organization() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('caudal.organization_id', true), '')::uuid;

create function caudal.batch_organizations() returns uuid[]
  language sql stable parallel safe
  return coalesce(nullif(current_setting('caudal.organization_ids', true), ''), '{}')::uuid[];

-- Isolates the tenants of a table. The scalar sub-selects make PostgreSQL read the setting once per statement: read per
-- row, a batch of several hundred organizations would parse its list for every row it writes.
create procedure caudal.protect(target regclass, owner name default 'organization_id')
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy one_organization on %s to caudal_read using (%I = (select caudal.current_organization()))', target, owner);
  execute format('create policy organizations_of_the_batch on %s to caudal_batch using (%I = any ((select caudal.batch_organizations())::uuid[])) with check (%I = any ((select caudal.batch_organizations())::uuid[]))', target, owner, owner);
  execute format('create policy system on %s to caudal_system using (true) with check (true)', target);
  call caudal.grant_backup_read(target);
end $$;

-- ── Write probe ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- Readiness and `caudal doctor` update this row, so that a full disk, a missing standby or a read-only server is reported
-- before a merchant's request fails.
create table caudal.write_probe (
  id         smallint primary key check (id = 1),
  written_at timestamptz not null
) with (fillfactor = 10);
insert into caudal.write_probe (id, written_at) values (1, clock_timestamp());

-- An update of one row needs no new page and succeeds on a full disk. The rows of a set-returning function beyond work_mem
-- go to a temporary file, here about 140 kB, on the volume of the database's tablespace.
create function caudal.probe_disk() returns bigint
  language sql volatile
  set work_mem = '64kB' set temp_tablespaces = '' set search_path = pg_catalog, pg_temp
  as $$ select count(*) from generate_series(1, 10000) $$;

-- ── Grants ───────────────────────────────────────────────────────────────────────────────────────────────────────────

revoke execute on all functions in schema caudal from public;
revoke execute on all procedures in schema caudal from public;
grant select on caudal.deployment, caudal.id_clock, caudal.clock_steps to caudal_read, caudal_batch, caudal_system;
grant select on caudal.monthly_tables to caudal_system;
grant select, update on caudal.write_probe to caudal_system;
grant execute on function caudal.now(), caudal.uuid_floor(timestamptz), caudal.id_time(timestamptz), caudal.id_ceiling(timestamptz),
  caudal.current_organization(), caudal.batch_organizations() to caudal_read, caudal_batch, caudal_system;
grant execute on function caudal.make_months(timestamptz), caudal.months_ready(), caudal.shift_time(interval),
  caudal.advance_id_clock(), caudal.probe_disk() to caudal_system;
