-- Payment links: hosted pages on which a payer chooses how to pay. Their attempts are payins.

create table caudal.payment_links (
  organization_id uuid not null,
  id              uuid not null,
  amount_in_cents bigint not null,
  currency        text not null,
  reference       text collate "C" not null,
  description     text,
  callback_url    text not null,
  -- The only rail that the payer may use; null leaves the choice.
  rail            text,
  -- Preselected bank.
  pse_bank        text,
  customer        bytea,
  status          text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  expires_at      timestamptz not null,
  -- No attempt starts from then on: the expiry, or earlier when the merchant closes the link.
  closes_at        timestamptz not null,
  -- The running attempt. Set only where it is null: there is one at a time.
  open_payin_id   uuid,
  completed_at    timestamptz,
  -- The attempt that completed the link.
  payin_id        uuid,
  primary key (organization_id, id),
  constraint link_amount check (amount_in_cents between 1 and 999999999999),
  constraint link_currency check (currency = 'COP'),
  constraint link_description check (length(description) between 1 and 200),
  constraint link_rail check (rail in ('BRE_B', 'PSE')),
  constraint link_bank check (pse_bank is null or rail is not distinct from 'PSE'),
  constraint link_status check (status in ('PENDING', 'COMPLETED', 'EXPIRED')),
  constraint link_completed check ((status = 'COMPLETED') = (completed_at is not null) and (status = 'COMPLETED') = (payin_id is not null)),
  -- An ended link has no running attempt, so it never emits both events.
  constraint link_ended check (status = 'PENDING' or open_payin_id is null)
) partition by range (id);
create index payment_links_to_expire on caudal.payment_links (closes_at) where status = 'PENDING' and open_payin_id is null;

insert into caudal.monthly_tables (name) values ('payment_links');
call caudal.protect('caudal.payment_links');
grant select on caudal.payment_links to caudal_read;
grant select, insert, update (open_payin_id, closes_at) on caudal.payment_links to caudal_batch;
grant select, update (status, updated_at, open_payin_id, completed_at, payin_id) on caudal.payment_links to caudal_system;
