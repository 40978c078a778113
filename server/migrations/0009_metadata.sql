-- The merchant's own key-value pairs. Encrypted like customer data, because merchants may put personal data there.
alter table caudal.payins add column metadata bytea;
alter table caudal.payouts add column metadata bytea;
alter table caudal.payment_links add column metadata bytea;
