import { check } from './broken-row.store.ts';

// Like the checks of payments these read tables of other rooms: to see whether the books tell the same story.

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

// Each payout and what the books must hold of it: set aside unless it was declined for lack of funds, then sent or released.
const MOVES = check(
  'payout-transfers',
  `with payout as (
     select organization_id, id, amount_in_cents as amount, status, anomaly_organization_id,
       status = 'DECLINED' and error_code = 'INSUFFICIENT_FUNDS' and attempts = 0 as unfunded
     from caudal.payouts
   ),
   expected as (
     select organization_id, id, 'payout_hold' as cause, amount, 'available' as debit, 'held' as credit from payout
       where anomaly_organization_id is null and not unfunded
     union all
     select organization_id, id, 'payout_release', amount, 'held', 'available' from payout
       where anomaly_organization_id is null and status in ('DECLINED', 'CANCELED') and not unfunded
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

/** Whether the books agree with what payouts say of the same money. */
export const PAYOUT_CHECKS = [HELD, MOVES];
