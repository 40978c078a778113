import { check } from './broken-row.store.ts';

// These read tables of payins and anomalies beside the ledger's own: to see whether the books tell the same story is
// what they are for, and no other store does.

/** Of a confirmed payin: beyond the amount of a payment link nothing is the merchant's. */
const THE_MERCHANTS = `case when payment_link_id is null then confirmed_amount_in_cents else least(confirmed_amount_in_cents, amount_in_cents) end`;

const SETTLED_PAYINS = check(
  'settled-payins',
  `with settled as (
     select organization_id, settlement_id, count(*) as payins, sum(${THE_MERCHANTS}) as amount
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
     select organization_id, sum(${THE_MERCHANTS}) as amount
     from caudal.payins where settlement_status = 'PENDING_SETTLEMENT' group by organization_id
   )
   select 'ledger_balances' as "table", coalesce(b.organization_id, w.organization_id) as "organizationId", 'pending' as id,
     coalesce(w.amount, 0) || ' of payins not yet settled' as expected, coalesce(b.balance_in_cents::text, 'no row') as found
   from (select organization_id, balance_in_cents from caudal.ledger_balances where account = 'pending') b
   full join waiting w on w.organization_id = b.organization_id
   where b.balance_in_cents is distinct from coalesce(w.amount, 0)`,
);

// Of a payin of a payment link: its amount, or, where less came, nothing; the rest is in suspense.
const PAYMENTS = check(
  'payments',
  `with confirmed as (
     select organization_id, id, 'clearing_' || lower(rail) as account, ${THE_MERCHANTS} as amount
     from caudal.payins where status = 'CONFIRMED' and (payment_link_id is null or settlement_status is not null)
   )
   select case when c.id is null then 'ledger_transfers' else 'payins' end as "table",
     coalesce(c.organization_id, t.organization_id) as "organizationId", coalesce(c.id, t.id)::text as id,
     case when c.id is null then 'a confirmed payin ' || coalesce(t.resource_id::text, 'named by it')
       else 'a payment of ' || c.amount || ' from ' || c.account end as expected,
     case when c.id is null or t.id is null then 'none' else t.amount_in_cents || ' from ' || t.debit_account end as found
   from confirmed c
   full join (select * from caudal.ledger_transfers where cause_kind = 'payment' and credit_account = 'pending') t
     on t.organization_id = c.organization_id and t.resource_id = c.id
   where c.id is null or (t.amount_in_cents, t.debit_account) is distinct from (c.amount, c.account)`,
);

const PAID_AGAIN = check(
  'paid-again',
  `with paid as (
     select organization_id, resource_id, count(*) as payments from caudal.ledger_transfers
     where cause_kind = 'payment' and credit_account = 'pending' and resource_id is not null
     group by organization_id, resource_id having count(*) > 1
   )
   select 'payins' as "table", p.organization_id as "organizationId", p.id::text as id,
     '1 payment' as expected, paid.payments::text as found
   from paid join caudal.payins p on p.organization_id = paid.organization_id and p.id = paid.resource_id`,
);

const UNSETTLED = check(
  'unsettled',
  `select 'payins' as "table", organization_id as "organizationId", id::text as id,
     'a time to settle, or SETTLED' as expected, coalesce(settlement_status, 'no settlement status') as found
   from caudal.payins
   where status = 'CONFIRMED' and settlement_status is distinct from 'SETTLED' and settles_at is null
     and not (payment_link_id is not null and settlement_status is null)`,
);

const SUSPENSE = check(
  'suspense',
  // What was found out to be another organization's leaves suspense there: it is the anomaly that says whose it was.
  // Money that is being returned stays in suspense until its payout is confirmed.
  `with moved as (
     select coalesce(a.organization_id, t.organization_id) as organization_id, t.amount_in_cents as amount
     from caudal.ledger_transfers t left join caudal.anomalies a on t.cause_kind = 'anomaly' and a.id::text = t.cause_id
     where t.credit_account = 'suspense'
     union all
     select coalesce(a.organization_id, t.organization_id), -t.amount_in_cents from caudal.ledger_transfers t
     left join caudal.anomalies a on t.cause_kind = 'anomaly' and a.id::text = t.cause_id
     where t.debit_account = 'suspense'
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

/** Whether the books agree with what payins and anomalies say of the same money. */
export const PAYMENT_CHECKS = [
  SETTLED_PAYINS,
  SETTLEMENT_TRANSFERS,
  PENDING,
  PAYMENTS,
  PAID_AGAIN,
  UNSETTLED,
  SUSPENSE,
];
