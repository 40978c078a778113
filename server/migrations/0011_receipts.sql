-- Receipts: the codes with which anybody can check one, and the e-mails that payers asked for.

-- Inserted when a receipt is first shown, so that payments without a viewed receipt cost nothing.
create table caudal.receipts (
  organization_id uuid not null,
  payin_id        uuid not null,
  -- Random: it tells nothing about the payin, and a rotation of keys does not change it.
  code            text collate "C" not null check (length(code) = 12),
  issued_at       timestamptz not null,
  primary key (organization_id, payin_id),
  constraint receipt_code_once unique (code)
);

create table caudal.receipt_emails (
  organization_id uuid not null,
  id              uuid not null,
  payin_id        uuid not null,
  -- Encrypted; removed as soon as the e-mail is sent or given up.
  address         bytea,
  language        text not null check (language in ('es', 'en')),
  created_at      timestamptz not null,
  due_at          timestamptz,
  attempts        smallint not null default 0,
  leased_until    timestamptz,
  lease_token     uuid,
  sent_at         timestamptz,
  primary key (organization_id, id),
  constraint receipt_email_pending check ((due_at is null) = (address is null)),
  constraint receipt_email_sent check (sent_at is null or due_at is null),
  constraint receipt_email_lease check (num_nonnulls(leased_until, lease_token) in (0, 2))
);
create index receipt_emails_due on caudal.receipt_emails (due_at) where due_at is not null;
create index receipt_emails_of_payin on caudal.receipt_emails (organization_id, payin_id);
create index receipt_emails_age on caudal.receipt_emails (created_at);

call caudal.protect('caudal.receipts');
call caudal.protect('caudal.receipt_emails');
grant select on caudal.receipts to caudal_read, caudal_system;
grant select, insert on caudal.receipts, caudal.receipt_emails to caudal_batch;
grant select, update (address, due_at, attempts, leased_until, lease_token, sent_at), delete on caudal.receipt_emails to caudal_system;
