-- What readiness and `caudal doctor` try to write, so that a full disk, a missing standby and a read-only server are seen
-- before a merchant's request meets them.
create table caudal.write_probe (
  id         smallint primary key check (id = 1),
  written_at timestamptz not null
) with (fillfactor = 10);
insert into caudal.write_probe (id, written_at) values (1, clock_timestamp());
grant select, update on caudal.write_probe to caudal_system;

-- An update of one row needs no new page, so a full disk would not be noticed by it. The rows of a set-returning function
-- beyond work_mem go to a temporary file, here about 140 kB, on the volume of the database's tablespace.
create function caudal.probe_disk() returns bigint
  language sql volatile
  set work_mem = '64kB' set temp_tablespaces = '' set search_path = pg_catalog, pg_temp
  as $$ select count(*) from generate_series(1, 10000) $$;
revoke execute on function caudal.probe_disk() from public;
grant execute on function caudal.probe_disk() to caudal_system;
