-- Ledger: balances, transfers, settlements, and the anomalies that hold money in suspense.

-- Accounts have names. `pending`, `available` and `held` belong to the organization and keep a balance; the shared ones
-- (clearing per rail, fees, suspense, treasury) are the operator's, keep no balance and are summed from transfers, so that
-- workers do not queue for one row.
create table caudal.ledger_balances (
  organization_id  uuid not null references caudal.organizations,
  account          text not null check (account in ('pending', 'available', 'held')),
  balance_in_cents bigint not null default 0,
  updated_at       timestamptz not null,
  primary key (organization_id, account),
  constraint balance_not_below_zero check (balance_in_cents >= 0)
)
-- Updated up to a thousand times a second: free space on the page keeps the updates HOT.
with (fillfactor = 20);

-- Immutable: no role may change or delete a row. `organization_id` is the organization whose business it was, also where both
-- accounts are the operator's.
create table caudal.ledger_transfers (
  organization_id uuid not null,
  id              uuid not null,
  debit_account   text not null,
  credit_account  text not null,
  amount_in_cents bigint not null,
  cause_kind      text not null,
  cause_id        text collate "C" not null,
  -- The payin, settlement or anomaly that the transfer belongs to.
  resource_id     uuid,
  at              timestamptz not null,
  primary key (organization_id, id),
  constraint transfer_amount check (amount_in_cents > 0),
  constraint transfer_accounts check (
    debit_account <> credit_account
    and debit_account in ('pending', 'available', 'held', 'clearing_bre_b', 'clearing_pse', 'fees', 'suspense', 'treasury')
    and credit_account in ('pending', 'available', 'held', 'clearing_bre_b', 'clearing_pse', 'fees', 'suspense', 'treasury')
  )
) partition by range (id);
-- Sums over a time span read only its pages. A B-tree would cost every transfer an entry for a sum that runs once an hour.
create index ledger_transfers_span on caudal.ledger_transfers using brin (id);
-- Lists of the two accounts with few transfers; without these indexes a filter would read all transfers.
create index ledger_transfers_available on caudal.ledger_transfers (organization_id, id)
  where debit_account = 'available' or credit_account = 'available';
create index ledger_transfers_held on caudal.ledger_transfers (organization_id, id)
  where debit_account = 'held' or credit_account = 'held';

-- At most one transfer per cause, permanently. A narrow table, because a partitioned table is unique only within a month.
create table caudal.ledger_causes (
  kind            text not null,
  id              text collate "C" not null,
  organization_id uuid not null,
  transfer_id     uuid not null,
  constraint ledger_cause_once primary key (kind, id),
  constraint ledger_causes_kind_check check (kind in (
    'payment', 'payment_excess',
    -- A reversal takes the posting of a payment back. The execution is posted once more if the rail lists it afterwards.
    'payment_reversal', 'payment_relisted',
    'settlement', 'deposit', 'anomaly', 'payout_hold', 'payout_release', 'payout', 'execution',
    -- Caused by the transfer that it reverses, so that a transfer is reversed at most once.
    'reversal'
  ))
);

-- Sums of the shared accounts over closed time spans, so that a sum reads only later transfers.
create table caudal.ledger_subtotals (
  account text not null,
  through timestamptz not null,
  debits_in_cents  numeric not null,
  credits_in_cents numeric not null,
  primary key (account, through)
);

create table caudal.settlements (
  organization_id uuid not null,
  id              uuid not null,
  amount_in_cents bigint not null check (amount_in_cents > 0),
  payins          integer not null check (payins > 0),
  at              timestamptz not null,
  -- Every payin of the settlement has a verified or released payment; `ledger verify` checks it.
  verified        boolean not null default true,
  primary key (organization_id, id)
);

-- ── Anomalies ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- A rail update that no state transition can represent. Its money, if any, is in suspense until an operator or the merchant
-- decides. A negative amount is money that left without a payout that accounts for it.
create table caudal.anomalies (
  organization_id  uuid not null,
  id               uuid not null,
  payin_id         uuid,
  payout_id        uuid,
  rail             text not null check (rail in ('BRE_B', 'PSE')),
  kind             text not null,
  reference        text collate "C" not null,
  execution_id     text collate "C",
  -- In suspense; null when no money is involved.
  amount_in_cents  bigint,
  noticed_at       timestamptz not null,
  -- Acceptance by the merchant: the merchants' role records it, the system role posts it.
  accepted_at      timestamptz,
  -- The API key that accepted it.
  accepted_by      text,
  -- When a posting that failed is tried again, so that it neither blocks later acceptances nor fills the log.
  posting_due_at   timestamptz,
  resolved_at      timestamptz,
  resolution       text,
  resolved_by      text,
  note             text,
  -- The payout that returns the money.
  return_payout_id uuid,
  -- A reversed resolution opens the anomaly again; the next resolution has a ledger cause of its own.
  reversals        integer not null default 0 check (reversals >= 0),
  -- Identifies the detected fact, so that detecting it twice inserts one row.
  once             text collate "C" not null,
  primary key (organization_id, id),
  -- Not led by the organization: while the table is small every index that starts with it costs the same, and the plan made
  -- then is kept. A statement that names an anomaly by id must use the primary key.
  constraint anomaly_once unique (once, organization_id),
  constraint anomaly_kind check (kind in (
    'paid_late', 'paid_again', 'underpaid', 'overpaid', 'unmatched', 'contradiction', 'unconfirmed', 'sent_late', 'sent_again',
    'payment_not_listed'
  )),
  constraint anomaly_about check (num_nonnulls(payin_id, payout_id) <= 1),
  constraint anomaly_amount check (amount_in_cents <> 0),
  -- The money of such a payin is pending and not in suspense. Its settlement is held until an operator releases or reverses
  -- it, or the rail lists the payment.
  constraint anomaly_not_listed check (kind <> 'payment_not_listed' or (payin_id is not null and amount_in_cents is null)),
  constraint anomaly_accepted check (num_nonnulls(accepted_at, accepted_by) in (0, 2)),
  -- Only money that arrived for a payin can be accepted.
  constraint anomaly_acceptable check (
    accepted_at is null or (payin_id is not null and amount_in_cents is not null and amount_in_cents > 0)
  ),
  -- An accepted anomaly is resolved by the credit of its acceptance only. A return or any other decision of an operator
  -- excludes the acceptance, whichever commits first.
  constraint anomaly_accept_excludes_resolve check (
    accepted_at is null or resolved_at is null or (resolution = 'credit' and resolved_by = accepted_by)
  ),
  constraint anomaly_return check ((return_payout_id is not null) = (resolution is not distinct from 'return')),
  constraint anomaly_resolution check (
    num_nonnulls(resolved_at, resolution, resolved_by) in (0, 3)
    and resolution in ('credit', 'return', 'charge', 'write_off', 'dismiss', 'release', 'reverse', 'listed')
    and (resolution not in ('credit', 'return') or amount_in_cents > 0)
    and (resolution not in ('charge', 'write_off') or amount_in_cents < 0)
    and (resolution <> 'dismiss' or (amount_in_cents is null and kind <> 'payment_not_listed'))
    and (resolution not in ('release', 'reverse', 'listed') or kind = 'payment_not_listed')
  )
);
create index anomalies_open on caudal.anomalies (noticed_at) where resolved_at is null;
create index anomalies_of_payin on caudal.anomalies (organization_id, payin_id) where payin_id is not null;
create index anomalies_of_payout on caudal.anomalies (organization_id, payout_id) where payout_id is not null;
create index anomalies_to_post on caudal.anomalies (accepted_at) where accepted_at is not null and resolved_at is null;

-- ── Partitions, row-level security and grants ────────────────────────────────────────────────────────────────────────

insert into caudal.monthly_tables (name) values ('ledger_transfers');

call caudal.protect('caudal.ledger_balances');
call caudal.protect('caudal.ledger_transfers');
call caudal.protect('caudal.ledger_causes');
call caudal.protect('caudal.settlements');
call caudal.protect('caudal.anomalies');

grant select on caudal.ledger_balances, caudal.ledger_transfers, caudal.anomalies to caudal_read;

-- The hold of a payout is posted in the transaction that creates the payout.
grant select, update (balance_in_cents, updated_at) on caudal.ledger_balances to caudal_batch;
grant insert on caudal.ledger_transfers to caudal_batch;
grant select, insert on caudal.ledger_causes to caudal_batch;
grant select, update (accepted_at, accepted_by) on caudal.anomalies to caudal_batch;

grant select, insert, update on caudal.ledger_balances to caudal_system;
grant select, insert on caudal.ledger_transfers, caudal.ledger_causes, caudal.ledger_subtotals, caudal.settlements to caudal_system;
grant select, insert, update (resolved_at, resolution, resolved_by, note, return_payout_id, reversals, posting_due_at)
  on caudal.anomalies to caudal_system;
