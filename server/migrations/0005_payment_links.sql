-- Payment links: a page on which a payer chooses how to pay, and the payins that are tried on it.

create table caudal.payment_links (
  organization_id uuid not null,
  id              uuid not null,
  amount_in_cents bigint not null,
  currency        text not null,
  reference       text collate "C" not null,
  description     text,
  callback_url    text not null,
  -- The only rail the payer may use; null leaves the choice.
  rail            text,
  -- Preselected.
  pse_bank        text,
  customer        bytea,
  status          text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  expires_at      timestamptz not null,
  -- From then on no attempt is begun: when it expires, or earlier when the merchant says so.
  shuts_at        timestamptz not null,
  -- The attempt that is under way. Set only where it is null: there is one at a time.
  open_payin_id   uuid,
  completed_at    timestamptz,
  -- The attempt that completed it.
  payin_id        uuid,
  primary key (organization_id, id),
  constraint link_amount check (amount_in_cents between 1 and 999999999999),
  constraint link_currency check (currency = 'COP'),
  constraint link_description check (length(description) between 1 and 200),
  constraint link_rail check (rail in ('BRE_B', 'PSE')),
  constraint link_bank check (pse_bank is null or rail is not distinct from 'PSE'),
  constraint link_status check (status in ('PENDING', 'COMPLETED', 'EXPIRED')),
  constraint link_completed check ((status = 'COMPLETED') = (completed_at is not null) and (status = 'COMPLETED') = (payin_id is not null)),
  -- What has ended has nothing under way: a link never tells of both ends.
  constraint link_ended check (status = 'PENDING' or open_payin_id is null)
) partition by range (id);
create index payment_links_to_expire on caudal.payment_links (shuts_at) where status = 'PENDING' and open_payin_id is null;

-- That a payer let us use what they typed: which text they saw, when, and from where (sealed). Rows are only added.
create table caudal.payer_authorizations (
  organization_id uuid not null,
  payin_id        uuid not null,
  text_id         text not null,
  at              timestamptz not null,
  evidence        bytea not null,
  primary key (organization_id, payin_id)
) partition by range (payin_id);

insert into caudal.monthly_tables values ('payment_links'), ('payer_authorizations');
call caudal.protect('caudal.payment_links');
call caudal.protect('caudal.payer_authorizations');
grant insert on caudal.payer_authorizations to caudal_batch;
grant select on caudal.payer_authorizations to caudal_system;

grant select on caudal.payment_links to caudal_read;
grant select, insert, update (open_payin_id, shuts_at) on caudal.payment_links to caudal_batch;
grant select, update (status, updated_at, open_payin_id, completed_at, payin_id) on caudal.payment_links to caudal_system;

-- What came beyond a link's amount moves apart from the amount itself.
alter table caudal.ledger_causes drop constraint ledger_causes_kind_check;
alter table caudal.ledger_causes add constraint ledger_causes_kind_check check (
  kind in ('payment', 'payment_excess', 'settlement', 'deposit', 'anomaly', 'payout_hold', 'payout_release', 'payout', 'execution')
);

-- What is over or short of a link's amount is nobody's yet.
alter table caudal.anomalies drop constraint anomaly_kind;
alter table caudal.anomalies add constraint anomaly_kind check (
  kind in ('paid_late', 'paid_again', 'underpaid', 'overpaid', 'unmatched', 'contradiction', 'unconfirmed', 'sent_late', 'sent_again')
);

-- A payin of an earlier version may still lack its payer: its months need a place for the authorization.
do $$
declare
  month record;
begin
  for month in
    select c.relname, pg_get_expr(c.relpartbound, c.oid) as bound, right(c.relname, 7) as suffix
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'caudal.payins'::regclass
  loop
    execute format('create table if not exists caudal.%I partition of caudal.payer_authorizations %s', 'payer_authorizations' || month.suffix, month.bound);
    execute format('alter table caudal.%I enable row level security', 'payer_authorizations' || month.suffix);
    execute format('alter table caudal.%I force row level security', 'payer_authorizations' || month.suffix);
  end loop;
end $$;
