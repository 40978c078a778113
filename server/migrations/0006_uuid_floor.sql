-- A time before 1970 has the lowest id there is. Without this it had nearly the highest, and a span of events that begins
-- there was empty.
create or replace function caudal.uuid_floor(at timestamptz) returns uuid
  language sql immutable strict parallel safe
  return (lpad(to_hex(greatest(0, (extract(epoch from at) * 1000)::bigint)), 12, '0') || repeat('0', 20))::uuid;
