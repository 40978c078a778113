import { statement, type Tx } from '../db/tx.ts';
import { SHARED_ACCOUNTS, type SharedAccount } from './transfer.ts';

const LOCK = statement('subtotal.lock', "select pg_advisory_xact_lock(hashtext('caudal.roll_subtotals'))");

/** One closes spans at a time. A statement of its own, for the next must see what the one before has closed. */
export async function lockSubtotals(tx: Tx): Promise<void> {
  await tx.query(LOCK);
}

const CLOSE = statement(
  'subtotal.close',
  // An hour is far more than any transaction lives after its ids were stamped, so that nothing comes late to a closed
  // span; after a shift of time that margin is gone until every process has heard of it. All accounts are closed together:
  // one tells how far.
  `with span as materialized (
     select coalesce((select max(through) from caudal.ledger_subtotals where account = ($1::text[])[1]), 'epoch') as since,
       date_trunc('hour', caudal.now() - interval '1 hour', 'UTC') as through
     from caudal.deployment where shifted_at is null or shifted_at < clock_timestamp() - interval '1 minute'
   ),
   moved as materialized (
     select side.account, sum(side.debit) as debits, sum(side.credit) as credits
     from caudal.ledger_transfers t
     cross join lateral (values (t.debit_account, t.amount_in_cents, 0), (t.credit_account, 0, t.amount_in_cents))
       as side (account, debit, credit)
     where t.id >= (select caudal.uuid_floor(since) from span) and t.id < (select caudal.uuid_floor(through) from span)
     group by side.account
   )
   insert into caudal.ledger_subtotals (account, through, debits_in_cents, credits_in_cents)
   select shared.account, span.through, coalesce(moved.debits, 0), coalesce(moved.credits, 0)
   from span cross join unnest($1::text[]) as shared (account) left join moved on moved.account = shared.account
   where span.since < span.through
   returning account`,
);

/** Closes the span since the last one, until an hour ago. @returns how many subtotals that made: none or one an account */
export async function closeSpan(tx: Tx): Promise<number> {
  return (await tx.query(CLOSE, [SHARED_ACCOUNTS])).length;
}

const SHARED_BALANCE = statement(
  'subtotal.shared-balance',
  `with closed as materialized (
     select coalesce(sum(credits_in_cents - debits_in_cents), 0) as amount, caudal.uuid_floor(coalesce(max(through), 'epoch')) as since
     from caudal.ledger_subtotals where account = $1
   )
   select (closed.amount + coalesce((
     select sum(case when t.credit_account = $1 then t.amount_in_cents else -t.amount_in_cents end)
     from caudal.ledger_transfers t
     where t.id >= (select since from closed) and (t.credit_account = $1 or t.debit_account = $1)
   ), 0))::text as amount
   from closed`,
);

/** What a shared account holds, in cents; negative where more left it than came, as clearing does by its nature. */
export async function sharedBalance(tx: Tx, account: SharedAccount): Promise<bigint> {
  const [row] = await tx.query<{ amount: string }>(SHARED_BALANCE, [account]);
  if (!row) throw new Error(`account ${account} has no sum`);
  return BigInt(row.amount);
}
