-- schema: expand
-- Payout attempts without effect: the order was not sent, or the rail answered that it accepts nothing now.

-- step
-- A payout whose attempts are all unsent can be sent again at once, and canceled. Counted apart from `attempts`, which earlier
-- releases read as the attempts that may have reached the rail: they neither cancel such a payout nor lose track of it.
alter table caudal.payouts add column unsent_attempts smallint not null default 0;
alter table caudal.payouts add constraint payout_unsent_attempts check (unsent_attempts between 0 and attempts) not valid;
alter table caudal.payouts drop constraint payout_canceled_unsent;
alter table caudal.payouts add constraint payout_canceled_unsent check (status <> 'CANCELED' or attempts = unsent_attempts) not valid;
alter policy merchants_cancel on caudal.payouts
  with check (attempts = unsent_attempts and status = 'CANCELED' and execution_id is null);
grant update (unsent_attempts) on caudal.payouts to caudal_system;
-- step
alter table caudal.payout_attempts drop constraint attempt_answer;
alter table caudal.payout_attempts add constraint attempt_answer check ((answer is null) = (answered_at is null)
  and answer in ('accepted', 'duplicate', 'refused', 'not_now', 'not_sent', 'unknown')) not valid;
-- step
alter table caudal.payouts validate constraint payout_unsent_attempts;
alter table caudal.payouts validate constraint payout_canceled_unsent;
-- step
alter table caudal.payout_attempts validate constraint attempt_answer;
