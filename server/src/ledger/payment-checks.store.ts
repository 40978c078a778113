import { check } from './broken-row.store.ts';

// These checks compare the ledger with the tables of payins and anomalies. No other store of the ledger reads them.

/** The merchant's part of a confirmed payin: money above the amount of a payment link is not the merchant's. */
const MERCHANT_AMOUNT = `case when payment_link_id is null then confirmed_amount_in_cents else least(confirmed_amount_in_cents, amount_in_cents) end`;

const SETTLED_PAYINS = check(
  'settled-payins',
  `with settled as (
     select organization_id, settlement_id, count(*) as payins, sum(${MERCHANT_AMOUNT}) as amount
     from caudal.payins where settlement_id is not null group by organization_id, settlement_id
   )
   select 'settlements' as "table", coalesce(s.organization_id, p.organization_id) as "organizationId",
     coalesce(s.id, p.settlement_id)::text as id,
     coalesce(p.amount || ' of ' || p.payins || ' payins', 'no payins') as expected,
     coalesce(s.amount_in_cents || ' of ' || s.payins || ' payins', 'no row') as found
   from caudal.settlements s
   full join settled p on p.organization_id = s.organization_id and p.settlement_id = s.id
   where (s.amount_in_cents, s.payins) is distinct from (p.amount, p.payins)`,
);

const SETTLEMENT_TRANSFERS = check(
  'settlement-transfers',
  `with moved as (
     select organization_id, cause_id, sum(amount_in_cents) as amount,
       count(*) filter (where debit_account <> 'pending' or credit_account <> 'available') as astray
     from caudal.ledger_transfers where cause_kind = 'settlement' group by organization_id, cause_id
   )
   select 'settlements' as "table", coalesce(s.organization_id, m.organization_id) as "organizationId",
     coalesce(s.id::text, m.cause_id) as id,
     coalesce(m.amount || ' transferred', 'no transfer') || case when m.astray > 0 then ' between other accounts' else '' end as expected,
     coalesce(s.amount_in_cents::text, 'no row') as found
   from caudal.settlements s
   full join moved m on m.organization_id = s.organization_id and m.cause_id = s.id::text
   where s.amount_in_cents is distinct from m.amount or m.astray > 0`,
);

const PENDING = check(
  'pending',
  `with waiting as (
     select organization_id, sum(${MERCHANT_AMOUNT}) as amount
     from caudal.payins where settlement_status = 'PENDING_SETTLEMENT' group by organization_id
   )
   select 'ledger_balances' as "table", coalesce(b.organization_id, w.organization_id) as "organizationId", 'pending' as id,
     coalesce(w.amount, 0) || ' of payins not yet settled' as expected, coalesce(b.balance_in_cents::text, 'no row') as found
   from (select organization_id, balance_in_cents from caudal.ledger_balances where account = 'pending') b
   full join waiting w on w.organization_id = b.organization_id
   where b.balance_in_cents is distinct from coalesce(w.amount, 0)`,
);

// The merchant receives the amount of a payment link's payin, or nothing when it was underpaid; the rest is in suspense.
const PAYMENTS = check(
  'payments',
  `with confirmed as (
     select organization_id, id, 'clearing_' || lower(rail) as account, ${MERCHANT_AMOUNT} as amount
     from caudal.payins where status = 'CONFIRMED' and (payment_link_id is null or settlement_status is not null)
   )
   select case when c.id is null then 'ledger_transfers' else 'payins' end as "table",
     coalesce(c.organization_id, t.organization_id) as "organizationId", coalesce(c.id, t.id)::text as id,
     case when c.id is null then 'a confirmed payin ' || coalesce(t.resource_id::text, 'named by it')
       else 'a payment of ' || c.amount || ' from ' || c.account end as expected,
     case when c.id is null or t.id is null then 'none' else t.amount_in_cents || ' from ' || t.debit_account end as found
   from confirmed c
   full join (select * from caudal.ledger_transfers where cause_kind in ('payment', 'payment_relisted') and credit_account = 'pending') t
     on t.organization_id = c.organization_id and t.resource_id = c.id
   where c.id is null or (t.amount_in_cents, t.debit_account) is distinct from (c.amount, c.account)`,
);

const PAID_AGAIN = check(
  'paid-again',
  `with paid as (
     select organization_id, resource_id, count(*) as payments from caudal.ledger_transfers
     where cause_kind in ('payment', 'payment_relisted') and credit_account = 'pending' and resource_id is not null
     group by organization_id, resource_id having count(*) > 1
   )
   select 'payins' as "table", p.organization_id as "organizationId", p.id::text as id,
     '1 payment' as expected, paid.payments::text as found
   from paid join caudal.payins p on p.organization_id = paid.organization_id and p.id = paid.resource_id`,
);

const UNSETTLED = check(
  'unsettled',
  `select 'payins' as "table", organization_id as "organizationId", id::text as id,
     'a query of its payment, a time to settle, or SETTLED' as expected, coalesce(settlement_status, 'no settlement status') as found
   from caudal.payins
   where status = 'CONFIRMED' and settlement_status is distinct from 'SETTLED' and settlement_status is distinct from 'REVERSED'
     and settles_at is null and rail_due_at is null
     and not (payment_link_id is not null and settlement_status is null)`,
);

const UNVERIFIED = check(
  'unverified',
  `select 'payins' as "table", p.organization_id as "organizationId", p.id::text as id,
     'settled after a status listed its payment, or an operator released it' as expected, 'neither' as found
   from caudal.payins p join caudal.settlements s on s.organization_id = p.organization_id and s.id = p.settlement_id
   where s.verified and p.payment_verified_at is null and p.settlement_released_at is null`,
);

const RELEASED = check(
  'released',
  `with decided as (
     select organization_id, id, case when settlement_status = 'REVERSED' then 'reverse' else 'release' end as decision
     from caudal.payins where settlement_status = 'REVERSED' or settlement_released_at is not null
   ),
   resolved as (
     select organization_id, payin_id as id, resolution as decision from caudal.anomalies
     where kind = 'payment_not_listed' and resolution in ('release', 'reverse')
   )
   select 'payins' as "table", coalesce(d.organization_id, r.organization_id) as "organizationId",
     coalesce(d.id, r.id)::text as id, coalesce(r.decision, 'no decision') || ' by an operator' as expected,
     coalesce(d.decision, 'no decision') as found
   from decided d full join resolved r on r.organization_id = d.organization_id and r.id = d.id
   where r.decision is distinct from d.decision`,
);

const REVERSALS = check(
  'payment-reversals',
  `with reversed as (
     select p.organization_id, p.id, ${MERCHANT_AMOUNT} as amount, 'pending to clearing_' || lower(p.rail) as way
     from caudal.payins p where p.settlement_status = 'REVERSED'
   )
   select case when r.id is null then 'ledger_transfers' else 'payins' end as "table",
     coalesce(r.organization_id, t.organization_id) as "organizationId", coalesce(r.id, t.id)::text as id,
     coalesce(r.amount || ' from ' || r.way, 'a reversed payin') as expected,
     coalesce(t.amount_in_cents || ' from ' || t.debit_account || ' to ' || t.credit_account, 'no transfer') as found
   from reversed r
   full join (select * from caudal.ledger_transfers where cause_kind = 'payment_reversal') t
     on t.organization_id = r.organization_id and t.resource_id = r.id
   where (r.amount, r.way) is distinct from (t.amount_in_cents::numeric, t.debit_account || ' to ' || t.credit_account)`,
);

const SUSPENSE = check(
  'suspense',
  // Money resolved to another organization leaves suspense there; the anomaly's organization is the one that counts.
  // Money of a return stays in suspense until its payout is confirmed.
  `with moved as (
     select coalesce(a.organization_id, t.organization_id) as organization_id,
       case when t.credit_account = 'suspense' then t.amount_in_cents else -t.amount_in_cents end as amount
     from caudal.ledger_transfers t
     left join caudal.ledger_transfers o on t.cause_kind = 'reversal' and o.organization_id = t.organization_id and o.id = t.resource_id
     -- The second and later resolutions of an anomaly have a suffix in their cause.
     left join caudal.anomalies a on coalesce(o.cause_kind, t.cause_kind) = 'anomaly'
       and a.id::text = split_part(coalesce(o.cause_id, t.cause_id), ':', 1)
     where t.credit_account = 'suspense' or t.debit_account = 'suspense'
   ),
   held as (select organization_id, sum(amount) as amount from moved group by organization_id),
   open as (
     select a.organization_id, sum(a.amount_in_cents) as amount from caudal.anomalies a
     where a.resolved_at is null or exists (
       select from caudal.payouts p where p.anomaly_id = a.id and p.id = a.return_payout_id and p.status = 'PROCESSING')
     group by a.organization_id
   )
   select 'anomalies' as "table", coalesce(h.organization_id, o.organization_id) as "organizationId", 'suspense' as id,
     coalesce(h.amount, 0) || ' in suspense' as expected, coalesce(o.amount, 0) || ' of open anomalies' as found
   from held h full join open o on o.organization_id = h.organization_id
   where coalesce(h.amount, 0) <> coalesce(o.amount, 0)`,
);

// The money of an underpaid payin is one payment in suspense, with an anomaly of the same execution and amount.
const UNDERPAID = check(
  'underpaid',
  `with short as (
     select organization_id, id, 'clearing_' || lower(rail) as account, confirmed_amount_in_cents as amount
     from caudal.payins where error_code = 'UNDERPAID'
   ),
   suspended as (
     select t.organization_id, t.resource_id, t.debit_account as account, t.amount_in_cents as amount
     from caudal.anomalies a
     join caudal.ledger_transfers t on t.organization_id = a.organization_id and t.resource_id = a.payin_id
       and t.cause_kind = 'payment' and t.cause_id = a.rail || ':' || a.execution_id and t.amount_in_cents = a.amount_in_cents
     where a.kind = 'underpaid' and t.credit_account = 'suspense'
   )
   select 'payins' as "table", s.organization_id as "organizationId", s.id::text as id,
     s.amount || ' in suspense from ' || s.account || ', with an anomaly' as expected,
     coalesce(u.amount || ' from ' || u.account, 'none') as found
   from short s left join suspended u on u.organization_id = s.organization_id and u.resource_id = s.id
   where (s.amount, s.account) is distinct from (u.amount, u.account)`,
);

// An accepted anomaly is credited to its organization once it is resolved, and not before.
const ACCEPTANCES = check(
  'acceptances',
  `with expected as (
     select organization_id, id, case when resolved_at is not null then amount_in_cents end as amount,
       -- The same format as anomalyCause: each resolution after a reversal has a separate cause.
       case when reversals = 0 then id::text else id || ':' || reversals end as cause
     from caudal.anomalies where accepted_at is not null
   )
   select 'anomalies' as "table", e.organization_id as "organizationId", e.id::text as id,
     coalesce(e.amount || ' credited', 'nothing credited') as expected,
     coalesce(t.amount_in_cents || ' from ' || t.debit_account || ' to ' || t.credit_account, 'none') as found
   from expected e
   left join caudal.ledger_transfers t on t.cause_kind = 'anomaly' and t.cause_id = e.cause
   where (e.amount, case when e.amount is not null then e.organization_id end)
       is distinct from (t.amount_in_cents, t.organization_id)
     or t.debit_account <> 'suspense' or t.credit_account <> 'available'`,
);

/** Consistency of the ledger with payins and anomalies. */
export const PAYMENT_CHECKS = [
  SETTLED_PAYINS,
  SETTLEMENT_TRANSFERS,
  PENDING,
  PAYMENTS,
  PAID_AGAIN,
  UNSETTLED,
  UNVERIFIED,
  RELEASED,
  REVERSALS,
  SUSPENSE,
  UNDERPAID,
  ACCEPTANCES,
];
