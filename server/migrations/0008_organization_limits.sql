-- How much one organization may ask for, where the deployment's limits are not the right ones for it. Null: the
-- deployment's. Zero: no limit. Read with the credential, so a request needs no query for it.
alter table caudal.organizations
  add column writes_per_second integer check (writes_per_second between 0 and 1000000),
  add column reads_per_second  integer check (reads_per_second between 0 and 1000000);
