import { statement, type Tx } from '../db/tx.ts';
import { SHARED_ACCOUNTS, type SharedAccount } from './transfer.ts';

const LOCK = statement('subtotal.lock', "select pg_advisory_xact_lock(hashtext('caudal.roll_subtotals'))");

/** Serializes writers. A separate statement, so that the snapshot of the next one includes the spans just closed. */
export async function lockSubtotals(tx: Tx): Promise<void> {
  await tx.query(LOCK);
}

const sumSql = (side: 'debit' | 'credit', account: SharedAccount) =>
  `coalesce(sum(t.amount_in_cents) filter (where t.${side}_account = '${account}'), 0)`;
const SUMS = SHARED_ACCOUNTS.map(
  (account, index) => `${sumSql('debit', account)} as d${index}, ${sumSql('credit', account)} as c${index}`,
).join(', ');
const ROWS = SHARED_ACCOUNTS.map((account, index) => `('${account}', d${index}, c${index})`).join(', ');

const CLOSE = statement(
  'subtotal.close',
  // No transaction lives for an hour after it generated its ids, so no transfer arrives late in a closed span. After a
  // shift of business time that margin is gone until every process knows the shift. All accounts are closed together, so
  // one account shows the last closed span. Ten minutes at a thousand transfers per second take one to two seconds to sum;
  // after days without runs the spans are longer. The sums are filters over one pass: grouping by account sorted
  // 700,000 transfers for longer than the statement timeout.
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
 * Closes the next span; the first span covers everything before it.
 * @returns the number of subtotals written: one per account, or none when only the last hour or two are open
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

/** The balance of a shared account in cents; negative when debits exceed credits, as in clearing accounts. */
export async function sharedBalance(tx: Tx, account: SharedAccount): Promise<bigint> {
  const [row] = await tx.query<{ amount: string }>(SHARED_BALANCE, [account]);
  if (!row) throw new Error(`account ${account} has no sum`);
  return BigInt(row.amount);
}
