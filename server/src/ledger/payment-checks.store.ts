import { check } from './broken-row.store.ts';

// These checks compare the ledger with the tables of payins and anomalies. No other store of the ledger reads them.

/** What settles with a payin: its payment, and what earlier attempts of the payment link that it completes received. */
const SETTLING_AMOUNT = 'confirmed_amount_in_cents + coalesce(earlier_parts_in_cents, 0)';

const SETTLED_PAYINS = check(
  'settled-payins',
  `with settled as (
     select organization_id, settlement_id, count(*) as payins, sum(${SETTLING_AMOUNT}) as amount
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
     select organization_id, sum(${SETTLING_AMOUNT}) as amount
     from caudal.payins where settlement_status = 'PENDING_SETTLEMENT' group by organization_id
   )
   select 'ledger_balances' as "table", coalesce(b.organization_id, w.organization_id) as "organizationId", 'pending' as id,
     coalesce(w.amount, 0) || ' of payins not yet settled' as expected, coalesce(b.balance_in_cents::text, 'no row') as found
   from (select organization_id, balance_in_cents from caudal.ledger_balances where account = 'pending') b
   full join waiting w on w.organization_id = b.organization_id
   where b.balance_in_cents is distinct from coalesce(w.amount, 0)`,
);

// The payin of a payment link without a settlement status was paid after the link had ended: its money is in suspense.
const PAYMENTS = check(
  'payments',
  `with confirmed as (
     select organization_id, id, 'clearing_' || lower(rail) as account, confirmed_amount_in_cents as amount
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
     select p.organization_id, p.id, p.confirmed_amount_in_cents as amount, 'pending to clearing_' || lower(p.rail) as way
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
   ),
   parts as (
     select organization_id, sum(paid_in_cents) as amount from caudal.payment_links where status = 'PENDING' group by organization_id
   ),
   due as (
     select coalesce(o.organization_id, p.organization_id) as organization_id, coalesce(o.amount, 0) + coalesce(p.amount, 0) as amount,
       case when p.amount > 0 then ' and parts of open payment links' else '' end as and_parts
     from open o full join parts p on p.organization_id = o.organization_id
   )
   select 'anomalies' as "table", coalesce(h.organization_id, o.organization_id) as "organizationId", 'suspense' as id,
     coalesce(h.amount, 0) || ' in suspense' as expected,
     coalesce(o.amount, 0) || ' of open anomalies' || coalesce(o.and_parts, '') as found
   from held h full join due o on o.organization_id = h.organization_id
   where coalesce(h.amount, 0) <> coalesce(o.amount, 0)`,
);

// The money of an underpaid payin is one payment in suspense. It has an anomaly of the same execution and amount, unless it
// is part of a payment link that is still open or was completed.
const UNDERPAID = check(
  'underpaid',
  `with short as (
     select p.organization_id, p.id, 'clearing_' || lower(p.rail) as account, p.confirmed_amount_in_cents as amount,
       p.payment_link_id is null or l.status = 'EXPIRED' as has_anomaly
     from caudal.payins p
     left join caudal.payment_links l on l.organization_id = p.organization_id and l.id = p.payment_link_id
     where p.error_code = 'UNDERPAID'
   ),
   suspended as (
     select t.organization_id, t.resource_id, t.debit_account as account, t.amount_in_cents as amount,
       exists (
         select from caudal.anomalies a where a.organization_id = t.organization_id and a.payin_id = t.resource_id
           and a.kind = 'underpaid' and t.cause_id = a.rail || ':' || a.execution_id and t.amount_in_cents = a.amount_in_cents
       ) as has_anomaly
     from caudal.ledger_transfers t
     join caudal.payins p on p.organization_id = t.organization_id and p.id = t.resource_id
       and t.cause_id = p.rail || ':' || p.payment_execution_id
     where t.cause_kind = 'payment' and t.credit_account = 'suspense' and p.error_code = 'UNDERPAID'
   )
   select 'payins' as "table", s.organization_id as "organizationId", s.id::text as id,
     s.amount || ' in suspense from ' || s.account || case when s.has_anomaly then ', with an anomaly' else ', without an anomaly' end as expected,
     coalesce(u.amount || ' from ' || u.account || case when u.has_anomaly then ', with an anomaly' else ', without an anomaly' end, 'none') as found
   from short s left join suspended u on u.organization_id = s.organization_id and u.resource_id = s.id
   where (s.amount, s.account, s.has_anomaly) is distinct from (u.amount, u.account, u.has_anomaly)`,
);

const LINK_SUMS = check(
  'link-sums',
  `with parts as (
     select p.organization_id, p.payment_link_id as id, sum(p.confirmed_amount_in_cents) as amount
     from caudal.payins p where p.payment_link_id is not null and p.error_code = 'UNDERPAID' group by p.organization_id, p.payment_link_id
   ),
   sums as (
     select l.organization_id, l.id, l.paid_in_cents as paid,
       coalesce(parts.amount, 0) + coalesce(p.confirmed_amount_in_cents, 0) as received,
       case when l.payin_id is not null then parts.amount end as earlier, p.earlier_parts_in_cents as recorded
     from caudal.payment_links l
     left join parts on parts.organization_id = l.organization_id and parts.id = l.id
     left join caudal.payins p on p.organization_id = l.organization_id and p.id = l.payin_id
   )
   select 'payment_links' as "table", organization_id as "organizationId", id::text as id,
     received || ' received by its attempts, ' || coalesce(earlier, 0) || ' of it before the last' as expected,
     paid || ' paid, ' || coalesce(recorded, 0) || ' of it before the last' as found
   from sums where paid <> received or earlier is distinct from recorded`,
);

// What earlier attempts received leaves suspense in one transfer, when the link completes.
const LINK_PARTS = check(
  'link-parts',
  `with moved as (
     select organization_id, resource_id, cause_id, amount_in_cents, debit_account || ' to ' || credit_account as way
     from caudal.ledger_transfers where cause_kind = 'link_parts'
   ),
   completed as (
     select organization_id, id, payment_link_id::text as link, earlier_parts_in_cents as amount
     from caudal.payins where earlier_parts_in_cents is not null
   )
   select case when c.id is null then 'ledger_transfers' else 'payins' end as "table",
     coalesce(c.organization_id, m.organization_id) as "organizationId", coalesce(c.id, m.resource_id)::text as id,
     coalesce(c.amount || ' from suspense to pending', 'no earlier parts') as expected,
     coalesce(m.amount_in_cents || ' from ' || m.way, 'no transfer') as found
   from completed c full join moved m on m.organization_id = c.organization_id and m.resource_id = c.id and m.cause_id = c.link
   where (c.amount, case when c.id is not null then 'suspense to pending' end) is distinct from (m.amount_in_cents, m.way)`,
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
  LINK_SUMS,
  LINK_PARTS,
  ACCEPTANCES,
];
