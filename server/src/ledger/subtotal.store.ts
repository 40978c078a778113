import { statement, type Tx } from '../db/tx.ts';
import { SHARED_ACCOUNTS, type SharedAccount } from './transfer.ts';

const LOCK = statement('subtotal.lock', "select pg_advisory_xact_lock(hashtext('caudal.roll_subtotals'))");

/** One closes spans at a time. A statement of its own, for the next must see what the one before has closed. */
export async function lockSubtotals(tx: Tx): Promise<void> {
  await tx.query(LOCK);
}

const sumOf = (side: 'debit' | 'credit', account: SharedAccount) =>
  `coalesce(sum(t.amount_in_cents) filter (where t.${side}_account = '${account}'), 0)`;
const SUMS = SHARED_ACCOUNTS.map(
  (account, index) => `${sumOf('debit', account)} as d${index}, ${sumOf('credit', account)} as c${index}`,
).join(', ');
const ROWS = SHARED_ACCOUNTS.map((account, index) => `('${account}', d${index}, c${index})`).join(', ');

const CLOSE = statement(
  'subtotal.close',
  // An hour is far more than any transaction lives after its ids were stamped, so that nothing comes late to a closed
  // span; after a shift of time that margin is gone until every process has heard of it. All accounts are closed together:
  // one tells how far. Ten minutes of a thousand transfers a second are summed in a second or two; after a silence of days
  // spans are longer, for little was booked in it. The sums are filters over one pass: grouped by account, 700,000
  // transfers were sorted for longer than a statement may take.
  `with closed as materialized (select max(through) as through from caudal.ledger_subtotals where account = '${SHARED_ACCOUNTS[0]}'),
   edge as materialized (
     select date_trunc('hour', caudal.now() - interval '1 hour', 'UTC') as latest
     from caudal.deployment where shifted_at is null or shifted_at < clock_timestamp() - interval '1 minute'
   ),
   span as materialized (
     select coalesce(closed.through, 'epoch') as since,
       least(date_trunc('minute', closed.through + greatest(interval '10 minutes', (edge.latest - closed.through) / 144)), edge.latest) as through
     from closed, edge where closed.through is null or closed.through < edge.latest
   ),
   summed as materialized (
     select ${SUMS} from caudal.ledger_transfers t
     where t.id >= (select caudal.uuid_floor(since) from span) and t.id < (select caudal.uuid_floor(through) from span)
   )
   insert into caudal.ledger_subtotals (account, through, debits_in_cents, credits_in_cents)
   select shared.account, span.through, shared.debits, shared.credits
   from span, summed cross join lateral (values ${ROWS}) as shared (account, debits, credits)
   returning account`,
);

/**
 * Closes the next span, or all that came before when none was closed yet.
 * @returns how many subtotals that made: one an account, none when only the last hour or two are open
 */
export async function closeSpan(tx: Tx): Promise<number> {
  return (await tx.query(CLOSE)).length;
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
