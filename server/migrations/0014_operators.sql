-- Operators freeze a merchant, and find the payin a payer asks about.

-- ── Suspension ───────────────────────────────────────────────────────────────────────────────────────────────────────

alter table caudal.organizations
  add column suspended_at timestamptz,
  add column suspended_by text check (length(suspended_by) between 1 and 120),
  add column suspension_reason text check (length(suspension_reason) between 1 and 500),
  add constraint organization_suspension check (num_nonnulls(suspended_at, suspended_by, suspension_reason) in (0, 3)),
  -- Returns of money in suspense are sent by it.
  add constraint operator_not_suspended check (not is_operator or suspended_at is null);
comment on column caudal.organizations.suspended_at is 'Set while the organization may create nothing and none of its payouts is sent.';
create index organizations_suspended on caudal.organizations (id) where suspended_at is not null;

-- A payer begins an attempt on a link as the merchants' role: the transaction itself refuses it.
grant select (id, suspended_at) on caudal.organizations to caudal_read, caudal_batch;

-- ── Search ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The number a payer of PSE reads on the bank's statement. Payins of Bre-B have no entry.
create index payins_of_cus on caudal.payins (pse_cus) where pse_cus is not null;
