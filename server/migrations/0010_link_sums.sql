-- A payment link is completed by the sum of its attempts, and has at most one open attempt per rail.

alter table caudal.payment_links rename column open_payin_id to open_breb_payin_id;
alter table caudal.payment_links
  add column open_pse_payin_id uuid,
  -- What the attempts have received toward the amount. Until the link completes or expires, it is in suspense.
  add column paid_in_cents bigint not null default 0;
comment on column caudal.payment_links.open_breb_payin_id is 'The open Bre-B attempt. Set only where it is null.';
comment on column caudal.payment_links.open_pse_payin_id is 'The open PSE attempt. Set only where it is null.';

-- The owner, who migrates, is subject to the policies of these tables and would see no row.
alter table caudal.payment_links no force row level security;
alter table caudal.payins no force row level security;
update caudal.payment_links l set open_pse_payin_id = l.open_breb_payin_id, open_breb_payin_id = null
from caudal.payins p
where p.organization_id = l.organization_id and p.id = l.open_breb_payin_id and p.rail = 'PSE';
update caudal.payment_links set paid_in_cents = amount_in_cents where status = 'COMPLETED';
-- The excess over the amount of a link is in suspense, with an anomaly; it is no longer part of the confirmed amount.
update caudal.payins set confirmed_amount_in_cents = amount_in_cents
where payment_link_id is not null and settlement_status is not null and confirmed_amount_in_cents > amount_in_cents;
alter table caudal.payment_links force row level security;
alter table caudal.payins force row level security;

alter table caudal.payment_links drop constraint link_ended;
alter table caudal.payment_links
  -- A completed link no longer refers to an attempt of the other rail that is still open: its payment would be a second one.
  add constraint link_ended check (status = 'PENDING' or num_nonnulls(open_breb_payin_id, open_pse_payin_id) = 0),
  add constraint link_paid check (
    paid_in_cents between 0 and amount_in_cents and (status = 'COMPLETED') = (paid_in_cents = amount_in_cents)
  );
drop index caudal.payment_links_to_expire;
create index payment_links_to_expire on caudal.payment_links (closes_at)
  where status = 'PENDING' and open_breb_payin_id is null and open_pse_payin_id is null;
grant update (open_pse_payin_id) on caudal.payment_links to caudal_batch;
grant update (open_pse_payin_id, paid_in_cents) on caudal.payment_links to caudal_system;

-- What earlier attempts of the same link had received when this payin completed it. It settles with the payin.
alter table caudal.payins add column earlier_parts_in_cents bigint;
alter table caudal.payins add constraint payin_earlier_parts check (
  earlier_parts_in_cents is null
  or (earlier_parts_in_cents > 0 and payment_link_id is not null and status = 'CONFIRMED'
    and settlement_status in ('PENDING_SETTLEMENT', 'SETTLED') and payment_verified_at is not null)
);

alter table caudal.ledger_causes drop constraint ledger_causes_kind_check;
alter table caudal.ledger_causes add constraint ledger_causes_kind_check check (kind in (
  'payment', 'payment_excess', 'payment_reversal', 'payment_relisted',
  -- The earlier parts of a link, moved from suspense to the merchant when the link completes.
  'link_parts',
  'settlement', 'deposit', 'anomaly', 'payout_hold', 'payout_release', 'payout', 'execution', 'reversal'
));
