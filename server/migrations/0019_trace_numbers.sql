-- The network's end-to-end id of the payment that decided a Bre-B payin: what the payer's bank quotes in a claim.
alter table caudal.payins add column end_to_end_id text collate "C";
alter table caudal.rail_notices add column end_to_end_id text collate "C";
