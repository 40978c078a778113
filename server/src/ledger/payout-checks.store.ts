import { check } from './broken-row.store.ts';

// These checks compare the ledger with the tables of payouts and anomalies.

const HELD = check(
  'held',
  `with waiting as (
     select organization_id, sum(amount_in_cents) as amount from caudal.payouts
     where status = 'PROCESSING' and anomaly_id is null group by organization_id
   )
   select 'ledger_balances' as "table", coalesce(b.organization_id, w.organization_id) as "organizationId", 'held' as id,
     coalesce(w.amount, 0) || ' of payouts under way' as expected, coalesce(b.balance_in_cents::text, 'no row') as found
   from (select organization_id, balance_in_cents from caudal.ledger_balances where account = 'held') b
   full join waiting w on w.organization_id = b.organization_id
   where b.balance_in_cents is distinct from coalesce(w.amount, 0)`,
);

// The transfers that each payout must have: a hold, unless it was declined on creation, then sent or released.
const TRANSFERS = check(
  'payout-transfers',
  `with payout as (
     select organization_id, id, amount_in_cents as amount, status, anomaly_organization_id,
       status = 'DECLINED' and error_code in ('INSUFFICIENT_FUNDS', 'ORGANIZATION_LIMIT_EXCEEDED') and attempts = 0 as refused
     from caudal.payouts
   ),
   expected as (
     select organization_id, id, 'payout_hold' as cause, amount, 'available' as debit, 'held' as credit from payout
       where anomaly_organization_id is null and not refused
     union all
     select organization_id, id, 'payout_release', amount, 'held', 'available' from payout
       where anomaly_organization_id is null and status in ('DECLINED', 'CANCELED') and not refused
     union all
     select coalesce(anomaly_organization_id, organization_id), id, 'payout', amount,
       case when anomaly_organization_id is null then 'held' else 'suspense' end, 'clearing_bre_b' from payout
       where status = 'CONFIRMED'
   ),
   found as (
     select organization_id, cause_id::uuid as id, cause_kind as cause, amount_in_cents as amount, debit_account as debit, credit_account as credit
     from caudal.ledger_transfers where cause_kind in ('payout_hold', 'payout_release', 'payout')
   )
   select 'payouts' as "table", coalesce(e.organization_id, f.organization_id) as "organizationId", coalesce(e.id, f.id)::text as id,
     coalesce(e.cause || ' of ' || e.amount || ' from ' || e.debit || ' to ' || e.credit, 'no ' || f.cause) as expected,
     coalesce(f.cause || ' of ' || f.amount || ' from ' || f.debit || ' to ' || f.credit, 'none') as found
   from expected e full join found f on f.organization_id = e.organization_id and f.id = e.id and f.cause = e.cause
   where (e.amount, e.debit, e.credit) is distinct from (f.amount, f.debit, f.credit)`,
);

// A rail execution is attributed once: to the payout that it confirmed or to the anomaly that holds its money.
const EXECUTIONS = check(
  'payout-executions',
  `with claimed as (
     select rail, execution_id, organization_id, id as payout_id, 'payouts' as "table", id::text as name from caudal.payouts where execution_id is not null
     union all
     select rail, execution_id, organization_id, payout_id, 'anomalies', id::text from caudal.anomalies
       where execution_id is not null and amount_in_cents < 0
   ),
   ranked as (
     select c.*, e.execution_id is not null as recorded, e.payout_id as recorded_payout_id,
       e.payout_id is not distinct from c.payout_id as same,
       row_number() over (partition by c.rail, c.execution_id order by (e.payout_id is not distinct from c.payout_id) desc, c.name) as place
     from claimed c left join caudal.payout_executions e on e.rail = c.rail and e.execution_id = c.execution_id
   )
   select "table", organization_id as "organizationId", name as id, 'execution ' || execution_id || ' of its own' as expected,
     case when not recorded then 'not recorded' else 'accounted to ' || coalesce('payout ' || recorded_payout_id, 'no payout') end as found
   from ranked where not recorded or not same or place > 1
   union all
   select 'payout_executions', e.organization_id, e.execution_id, 'a confirmed payout or an anomaly with its money', 'none'
   from caudal.payout_executions e
   where not exists (select from claimed c where c.rail = e.rail and c.execution_id = e.execution_id and c.payout_id is not distinct from e.payout_id)`,
);

// The usage that payout limits are checked against, for the limits that exist and the present day in Bogotá.
const USAGE = check(
  'payout-usage',
  `with today as materialized (select date_trunc('day', caudal.now(), 'America/Bogota') as since),
   counted as (
     select l.organization_id, l.api_key_id, count(p.id) as payouts, coalesce(sum(p.amount_in_cents), 0) as amount
     from caudal.payout_limits l cross join today left join caudal.payouts p on p.organization_id = l.organization_id
       and p.id >= caudal.uuid_floor(today.since - interval '1 hour') and p.created_at >= today.since
       and p.status in ('PROCESSING', 'CONFIRMED') and p.anomaly_id is null
       and (l.api_key_id = '' or p.created_by = 'key:' || l.api_key_id)
     group by l.organization_id, l.api_key_id
   )
   select 'payout_usage' as "table", c.organization_id as "organizationId", coalesce(nullif(c.api_key_id, ''), 'organization') as id,
     c.payouts || ' payouts of ' || c.amount as expected, coalesce(u.payouts, 0) || ' payouts of ' || coalesce(u.amount_in_cents, 0) as found
   from counted c cross join today left join caudal.payout_usage u on u.organization_id = c.organization_id
     and u.api_key_id = c.api_key_id and u.day = (today.since at time zone 'America/Bogota')::date
   where (c.payouts, c.amount) is distinct from (coalesce(u.payouts, 0), coalesce(u.amount_in_cents, 0))`,
);

/** Consistency of the ledger with payouts. */
export const PAYOUT_CHECKS = [HELD, TRANSFERS, EXECUTIONS, USAGE];
