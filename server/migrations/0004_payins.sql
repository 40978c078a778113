-- Payins: collections at the rails, their history, Bre-B keys, banks, payers' consent, notifications of the rails.

-- The primary key starts with the organization and serves both "one" and "list, newest first". Partitioned by month of the id.
create table caudal.payins (
  organization_id           uuid not null,
  id                        uuid not null,
  amount_in_cents           bigint not null,
  confirmed_amount_in_cents bigint,
  currency                  text not null,
  rail                      text not null,
  status                    text not null,
  error_code                text,
  reference                 text collate "C" not null,
  payment_link_id           uuid,
  customer                  bytea,
  callback_url              text,
  created_at                timestamptz not null,
  updated_at                timestamptz not null,
  expires_at                timestamptz not null,
  result_at                 timestamptz,
  chargeback_at             timestamptz,
  breb_key_type             text,
  breb_key                  text collate "C",
  pse_bank                  text,
  pse_person_type           text,
  -- Set once, when the bank's page is known; the payin is PROCESSING from then on.
  pse_url                   text,
  pse_url_at                timestamptz,
  pse_transaction_id        text,
  pse_cus                   text,
  -- The network's end-to-end id of the payment that decided a Bre-B payin: the payer's bank quotes it in a claim.
  end_to_end_id             text collate "C",
  -- Next task at the rail, its due time and the lease of the process that works on it. `rail_sent_at` is the last time at
  -- which an order may have left for the rail: until the rail's maximum processing time has passed, "not found" is not final.
  rail_task                 text,
  rail_due_at               timestamptz,
  rail_sent_at              timestamptz,
  rail_attempts             smallint not null default 0,
  leased_until              timestamptz,
  lease_token               uuid,
  -- Execution that confirmed the payin.
  payment_execution_id      text collate "C",
  -- When a status that the service queried first listed that execution, with that amount. Nothing settles before.
  payment_verified_at       timestamptz,
  settlement_status         text,
  settles_at                timestamptz,
  settlement_id             uuid,
  -- When an operator released the settlement of a payment that the rail does not list.
  settlement_released_at    timestamptz,
  primary key (organization_id, id),
  constraint payin_amount check (amount_in_cents between 1 and 999999999999),
  constraint payin_confirmed_amount check (confirmed_amount_in_cents >= 0),
  constraint payin_currency check (currency = 'COP'),
  constraint payin_status check (status in ('PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED')),
  constraint payin_result check ((status in ('CONFIRMED', 'DECLINED', 'CANCELED')) = (result_at is not null)),
  constraint payin_confirmed check (status <> 'CONFIRMED' or confirmed_amount_in_cents is not null),
  constraint payin_underpaid check (
    error_code is distinct from 'UNDERPAID'
    or (status = 'DECLINED' and settlement_status is null
      and confirmed_amount_in_cents is not null and confirmed_amount_in_cents < amount_in_cents)
  ),
  constraint payin_page check ((pse_url is null) = (pse_url_at is null)),
  constraint payin_due check ((rail_task is null) = (rail_due_at is null) and rail_task in ('open', 'poll', 'close')),
  constraint payin_lease check (num_nonnulls(leased_until, lease_token) in (0, 2)),
  constraint payin_settlement_status check (settlement_status in ('PENDING_SETTLEMENT', 'SETTLED', 'REVERSED')),
  constraint payin_settles check (settles_at is null or settlement_status = 'PENDING_SETTLEMENT'),
  constraint payin_settled check ((settlement_id is not null) = (settlement_status is not distinct from 'SETTLED')),
  constraint payin_verification check (num_nonnulls(payment_verified_at, settlement_released_at) <= 1),
  constraint payin_reversed check (
    settlement_status is distinct from 'REVERSED'
    or (status = 'CONFIRMED' and num_nonnulls(settles_at, payment_verified_at, settlement_released_at) = 0)
  ),
  constraint payin_rail check (
    (rail = 'BRE_B' and breb_key is not null and breb_key_type in ('SINGLE_USE', 'QR_CODE') and pse_bank is null)
    or (rail = 'PSE' and breb_key is null and pse_bank is not null and pse_person_type in ('INDIVIDUAL', 'BUSINESS'))
  )
) partition by range (id);
create index payins_rail_due on caudal.payins (rail, rail_task, rail_due_at) where rail_due_at is not null;
create index payins_settling on caudal.payins (settles_at) where settles_at is not null;
-- Attempts of a payment link. Direct payins have no entry.
create index payins_of_link on caudal.payins (organization_id, payment_link_id, id) where payment_link_id is not null;
-- The CUS is on the payer's bank statement. Bre-B payins have no entry.
create index payins_of_cus on caudal.payins (pse_cus) where pse_cus is not null;
-- Pages filtered by status or rail. A walk of the primary key is quick only for common values: an organization with ten
-- million confirmed payins and none open would have all of them read to find nothing. Status and rail precede the id, so that
-- a page of both is one range of the index, and a page of either one a few merged ranges (db/keyset.ts). No HOT update is
-- lost: every statement that changes the status also changes `rail_due_at`, which is indexed anyway.
create index payins_by_status on caudal.payins (organization_id, status, rail, id);

-- One row per transition. The primary key allows one transition out of a state.
create table caudal.payin_history (
  organization_id uuid not null,
  payin_id        uuid not null,
  from_status     text not null,
  to_status       text not null,
  cause           text not null,
  at              timestamptz not null,
  constraint payin_history_status check (
    from_status in ('NONE', 'PENDING', 'PROCESSING') and to_status in ('PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED')
  ),
  constraint payin_transition_once primary key (organization_id, payin_id, from_status)
) partition by range (payin_id);

-- Every Bre-B key ever minted, so that none is reused, and the state of its registration at the network. Apart from the
-- payin, because it changes once for every payin and a payin's row is wide.
create table caudal.breb_keys (
  key             text collate "C" not null,
  organization_id uuid not null,
  payin_id        uuid not null,
  minted_at       timestamptz not null,
  register_due_at timestamptz,
  attempts        smallint not null default 0,
  leased_until    timestamptz,
  lease_token     uuid,
  registered_at   timestamptz,
  refusal         text,
  constraint breb_key_once primary key (key),
  constraint breb_key_registration check (num_nonnulls(register_due_at, registered_at, refusal) <= 1),
  constraint breb_key_lease check (num_nonnulls(leased_until, lease_token) in (0, 2))
)
-- Every row is updated once, a second after its insert: vacuum after a number of rows and not after a share of the table.
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_insert_scale_factor = 0.05);
create index breb_keys_due on caudal.breb_keys (register_due_at) where register_due_at is not null;

-- Last valid bank list of the PSE network. Names and codes that the API returns are in the program.
create table caudal.pse_banks (
  network_code text primary key,
  name         text not null,
  seen_at      timestamptz not null
);

-- The payer's consent to the use of personal data: which text was shown, when, and from where (encrypted). Insert only.
create table caudal.payer_authorizations (
  organization_id uuid not null,
  payin_id        uuid not null,
  text_id         text not null,
  at              timestamptz not null,
  evidence        bytea not null,
  primary key (organization_id, payin_id)
) partition by range (payin_id);

-- ── Notifications of the rails ───────────────────────────────────────────────────────────────────────────────────────

-- Stored before it is applied. `organization_id` is the operator's for what a rail sent, because the owner is known only when
-- the notification is applied; the rejection of an order belongs to the order's organization.
-- The row is its own due work: task `apply`, or `ask` when the rail must be queried first.
create table caudal.rail_notices (
  organization_id uuid not null,
  id              uuid not null,
  rail            text not null check (rail in ('BRE_B', 'PSE')),
  about           text not null default 'payin' check (about in ('payin', 'payout')),
  -- The rail's number of the notification; null for the rail's answer to a call of ours.
  notice_id       text collate "C",
  -- The Bre-B key, our reference at PSE, or the end-to-end id of a payout.
  reference       text collate "C" not null,
  kind            text not null,
  execution_id    text collate "C",
  end_to_end_id   text collate "C",
  amount_in_cents bigint,
  error_code      text,
  -- The request body as received, encrypted.
  raw             bytea,
  received_at     timestamptz not null,
  task            text,
  due_at          timestamptz,
  attempts        smallint not null default 0,
  leased_until    timestamptz,
  lease_token     uuid,
  outcome         text,
  primary key (organization_id, id),
  constraint notice_kind check (kind in ('paid', 'declined', 'refused', 'unreadable')),
  constraint notice_paid check (kind <> 'paid' or (execution_id is not null and amount_in_cents is not null and amount_in_cents > 0)),
  constraint notice_declined check (kind not in ('declined', 'refused') or error_code is not null),
  constraint notice_due check ((task is null) = (due_at is null) and task in ('apply', 'verify')),
  constraint notice_lease check (num_nonnulls(leased_until, lease_token) in (0, 2)),
  constraint notice_outcome check (outcome in ('applied', 'duplicate', 'unconfirmed'))
) partition by range (id);
create index rail_notices_unreadable on caudal.rail_notices (received_at) where kind = 'unreadable';
create index rail_notices_due on caudal.rail_notices (about, task, due_at) where due_at is not null;

-- ── Partitions, row-level security and grants ────────────────────────────────────────────────────────────────────────

insert into caudal.monthly_tables (name, detachable) values
  ('payins', false), ('payin_history', true), ('payer_authorizations', false), ('rail_notices', true);

call caudal.protect('caudal.payins');
call caudal.protect('caudal.payin_history');
call caudal.protect('caudal.breb_keys');
call caudal.protect('caudal.payer_authorizations');
call caudal.protect('caudal.rail_notices');

grant select on caudal.payins, caudal.payin_history, caudal.pse_banks to caudal_read;

grant select, insert on caudal.payins, caudal.payin_history, caudal.breb_keys to caudal_batch;
grant update on caudal.payins to caudal_batch;
grant update (leased_until, lease_token) on caudal.breb_keys to caudal_batch;
grant insert on caudal.payer_authorizations to caudal_batch;
-- The process whose order was rejected inserts the rejection; workers apply it.
grant insert on caudal.rail_notices to caudal_batch;

grant select, insert, update on caudal.payins, caudal.payin_history, caudal.rail_notices, caudal.pse_banks to caudal_system;
grant select, insert, update, delete on caudal.breb_keys to caudal_system;
grant select on caudal.payer_authorizations to caudal_system;
