-- Ids carry the time at which they were stamped, and lists, subtotals and the event stream rely on it: it must never go
-- back for the deployment, although the database's clock may (a correction, a failover to a host that is behind).

-- No id later than `high_water` and 40 seconds exists. Written at most every 20 seconds, before ids beyond it are stamped.
create table caudal.id_clock (
  only_row   boolean primary key default true check (only_row),
  high_water timestamptz not null
);
insert into caudal.id_clock (high_water) values ('epoch');

-- Steps back of the database's clock. From `from_at` to `until_at` ids run ahead of business time: they start at `ids_from`
-- and advance at half its speed, until it has caught up with them.
create table caudal.clock_steps (
  number      bigint generated always as identity primary key,
  from_at     timestamptz not null,
  ids_from    timestamptz not null,
  until_at    timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  constraint clock_step_back check (from_at < ids_from and ids_from < until_at)
);

-- The time that ids are stamped with at a business time.
create function caudal.id_time(at timestamptz) returns timestamptz
  language sql stable parallel safe
  return coalesce((
    select s.ids_from + (at - s.from_at) / 2 from caudal.clock_steps s
    where s.from_at <= at and s.until_at > at order by s.number desc limit 1
  ), at);

-- No row that was created before `until` has this id or a later one. A minute covers what processes may differ by.
create function caudal.id_ceiling(until timestamptz) returns uuid
  language sql stable parallel safe
  return caudal.uuid_floor(
    greatest(until, (select max(s.until_at) from caudal.clock_steps s where s.from_at < until)) + interval '1 minute');

-- Raises the high-water mark to the present, and records a step back where the present is before it. It does not wait
-- for disk or standby: any later commit that carries an id brings this one there first, because both are in one log.
create function caudal.keep_id_clock() returns timestamptz
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
    -- A minute early, for what was created since the step. The present is then 45 seconds after the high-water mark:
    -- after all ids there are, and within the minute by which readers of the event stream look back.
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

grant select on caudal.id_clock, caudal.clock_steps to caudal_read, caudal_batch, caudal_system;
grant execute on function caudal.id_time(timestamptz), caudal.id_ceiling(timestamptz) to caudal_read, caudal_batch, caudal_system;
revoke all on function caudal.keep_id_clock() from public;
grant execute on function caudal.keep_id_clock() to caudal_system;
