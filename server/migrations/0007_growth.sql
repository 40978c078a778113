-- What stays quick, and what may leave, when there are years of payins.

-- A page of one state or one rail. Walking the primary key for it is quick only where what is asked for is common: an organization
-- with ten million confirmed payins and none that is open would have them all read to find nothing. Status and rail stand
-- before the id, so that a page of both is one stretch of the index, and of either one a few stretches, merged (db/keyset.ts).
-- No update that could stay within its page (HOT) loses that by it: whatever changes the status changes `rail_due_at`, which
-- has an index already.
create index payins_by_status on caudal.payins (organization_id, status, rail, id);

-- Whether a month of this table may be detached once all in it is over. What the books are made of, or are checked against
-- (`ledger verify`), stays, and with it the payer's authorization; what tells how something came about leaves. `final_events`
-- stays too: it is narrow, it keeps a second event from ever being made, and its months are those of what ended, not of events.
alter table caudal.monthly_tables add column leaves boolean not null default false;
update caudal.monthly_tables set leaves = true where name in (
  'events', 'webhook_deliveries', 'webhook_attempts', 'rail_notices', 'payin_history', 'payout_history', 'payout_attempts'
);
