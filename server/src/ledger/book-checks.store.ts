import { statement, type Tx } from '../db/tx.ts';
import { check } from './broken-row.store.ts';
import { REVERSIBLE } from './reversal.ts';
import { type Account, OWN_ACCOUNTS, SHARED_ACCOUNTS } from './transfer.ts';

const OWN = OWN_ACCOUNTS.map((account) => `('${account}')`).join(', ');
/** The causes that the merchants' role may post. */
const MERCHANT_CAUSES = "'payout_hold', 'payout_release'";
const SHARED = SHARED_ACCOUNTS.map((account) => `('${account}')`).join(', ');

// Sums transfers by account pair before it splits debits and credits: half the rows to process.
const SUMS = `
  pair as (
    select organization_id, debit_account, credit_account, sum(amount_in_cents) as amount
    from caudal.ledger_transfers group by organization_id, debit_account, credit_account
  ),
  summed as (
    select pair.organization_id, side.account, sum(side.amount) as amount
    from pair cross join lateral (values (pair.credit_account, pair.amount), (pair.debit_account, -pair.amount))
      as side (account, amount)
    group by pair.organization_id, side.account
  )`;

const BALANCES = check(
  'balances',
  `with ${SUMS},
   account as (
     select o.id as organization_id, own.account from caudal.organizations o cross join (values ${OWN}) as own (account) where not o.is_operator
     union select organization_id, account from summed where account in (values ${OWN})
     union select organization_id, account from caudal.ledger_balances
   )
   select 'ledger_balances' as "table", a.organization_id as "organizationId", a.account as id,
     coalesce(s.amount, 0)::text as expected, coalesce(b.balance_in_cents::text, 'no row') as found
   from account a
   left join summed s on s.organization_id = a.organization_id and s.account = a.account
   left join caudal.ledger_balances b on b.organization_id = a.organization_id and b.account = a.account
   where b.balance_in_cents is distinct from coalesce(s.amount, 0)`,
);

const CAUSES = check(
  'causes',
  `select case when c.id is null then 'ledger_transfers' else 'ledger_causes' end as "table",
     coalesce(t.organization_id, c.organization_id) as "organizationId", coalesce(t.id, c.transfer_id)::text as id,
     case when c.id is null then 'its cause ' || t.cause_kind || ' ' || t.cause_id else 'the transfer of ' || c.kind || ' ' || c.id end as expected,
     'none' as found
   from caudal.ledger_transfers t
   full join caudal.ledger_causes c on c.kind = t.cause_kind and c.id = t.cause_id
     and c.organization_id = t.organization_id and c.transfer_id = t.id
   where t.id is null or c.id is null`,
);

const SUBTOTALS = check(
  'subtotals',
  // width_bucket finds the span of each transfer in one pass; a range join would read the transfers once per span.
  `with edge as (select distinct through from caudal.ledger_subtotals),
   span as (select through, row_number() over (order by through) as number from edge),
   pair as (
     select width_bucket(id, (select array_agg(caudal.uuid_floor(through) order by through) from edge)) + 1 as number,
       debit_account, credit_account, sum(amount_in_cents) as amount
     from caudal.ledger_transfers where exists (select from edge) group by 1, 2, 3
   ),
   summed as (
     select pair.number, side.account, sum(side.debit) as debits, sum(side.credit) as credits
     from pair cross join lateral (values (pair.debit_account, pair.amount, 0), (pair.credit_account, 0, pair.amount))
       as side (account, debit, credit)
     group by pair.number, side.account
   ),
   expected as (
     select shared.account, span.through, coalesce(s.debits, 0) as debits, coalesce(s.credits, 0) as credits
     from span cross join (values ${SHARED}) as shared (account)
     left join summed s on s.number = span.number and s.account = shared.account
   )
   select 'ledger_subtotals' as "table", null::uuid as "organizationId",
     e.account || ' through ' || to_json(e.through)::text as id,
     'debits ' || e.debits || ', credits ' || e.credits as expected,
     coalesce('debits ' || t.debits_in_cents || ', credits ' || t.credits_in_cents, 'no row') as found
   from expected e left join caudal.ledger_subtotals t on t.account = e.account and t.through = e.through
   where (t.debits_in_cents, t.credits_in_cents) is distinct from (e.debits, e.credits)`,
);

const kinds = (how: 'partly' | 'wholly') =>
  Object.entries(REVERSIBLE)
    .filter(([, each]) => each === how)
    .map(([kind]) => `'${kind}'`)
    .join(', ');

// The CAUSES check covers that a transfer is reversed once: the cause of a reversal is the transfer's id.
const REVERSALS = check(
  'posting-reversals',
  `select 'ledger_transfers' as "table", r.organization_id as "organizationId", r.id::text as id,
     coalesce('a reversal of ' || o.cause_kind || ' ' || o.id || ', at most ' || o.amount_in_cents || ' from ' || o.credit_account || ' to ' || o.debit_account,
       'the reversed transfer ' || r.cause_id) as expected,
     r.amount_in_cents || ' from ' || r.debit_account || ' to ' || r.credit_account as found
   from caudal.ledger_transfers r
   left join caudal.ledger_transfers o
     on o.organization_id = r.organization_id and o.id = r.resource_id and r.cause_id = o.id::text
   where r.cause_kind = 'reversal' and (
     o.id is null or (r.debit_account, r.credit_account) <> (o.credit_account, o.debit_account)
     or not case when o.cause_kind in (${kinds('partly')}) then r.amount_in_cents <= o.amount_in_cents
       when o.cause_kind in (${kinds('wholly')}) then r.amount_in_cents = o.amount_in_cents
       else false end)`,
);

// Role names end with their kind, whatever their prefix. Causes posted before roles were recorded have none.
const WRITERS = check(
  'cause-writers',
  `select 'ledger_causes' as "table", organization_id as "organizationId", kind || ' ' || id as id,
     'written by ' || case when kind in (${MERCHANT_CAUSES}) then 'the batch or system role' else 'the system role' end as expected,
     'written by ' || written_by as found
   from caudal.ledger_causes
   where written_by is not null and written_by not like '%\\_system'
     and not (written_by like '%\\_batch' and kind in (${MERCHANT_CAUSES}))`,
);

// Deposits booked before they had a record of their own have no writer either.
const DEPOSITS = check(
  'deposits',
  `with booked as (
     select t.organization_id, t.id, t.amount_in_cents || ' from ' || t.debit_account || ' to ' || t.credit_account || ' for ' || c.id as posting
     from caudal.ledger_causes c
     join caudal.ledger_transfers t on t.organization_id = c.organization_id and t.id = c.transfer_id
     where c.kind = 'deposit' and c.written_by is not null
   ),
   recorded as (
     select organization_id, id, amount_in_cents || ' from treasury to available for ' || organization_id || ':' || reference as posting
     from caudal.deposits
   )
   select case when r.id is null then 'ledger_transfers' else 'deposits' end as "table",
     coalesce(r.organization_id, b.organization_id) as "organizationId", coalesce(r.id, b.id)::text as id,
     case when r.id is null then 'the record of a deposit' else coalesce(b.posting, 'its transfer') end as expected,
     case when r.id is null or b.id is null then 'none' else r.posting end as found
   from recorded r full join booked b on b.organization_id = r.organization_id and b.id = r.id
   where r.posting is distinct from b.posting`,
);

/** Internal consistency of the ledger. */
export const BOOK_CHECKS = [BALANCES, CAUSES, SUBTOTALS, REVERSALS, WRITERS, DEPOSITS];

const TOTALS = statement(
  'ledger-check.totals',
  `with ${SUMS}
   select known.account, coalesce(known.amount, 0)::text as amount, known.rows from (
     select account, sum(balance_in_cents) as amount, count(*)::integer as rows from caudal.ledger_balances group by account
     union all
     select shared.account, sum(s.amount), 0 from (values ${SHARED}) as shared (account)
     left join summed s on s.account = shared.account group by shared.account
   ) as known`,
);

const COUNT = statement('ledger-check.count', 'select count(*)::text as count from caudal.ledger_transfers');

export interface Totals {
  /** In cents, over all organizations: own accounts from their balances, shared accounts from their transfers. */
  readonly accounts: ReadonlyMap<Account, bigint>;
  readonly balances: number;
  readonly transfers: bigint;
}

export async function totals(tx: Tx): Promise<Totals> {
  const rows = await tx.query<{ account: Account; amount: string; rows: number }>(TOTALS);
  const [count] = await tx.query<{ count: string }>(COUNT);
  const amounts = new Map(rows.map((row) => [row.account, BigInt(row.amount)]));
  return {
    accounts: new Map(
      [...OWN_ACCOUNTS, ...SHARED_ACCOUNTS].map((account) => [account, amounts.get(account) ?? 0n]),
    ),
    balances: rows.reduce((sum, row) => sum + row.rows, 0),
    transfers: BigInt(count?.count ?? 0),
  };
}
