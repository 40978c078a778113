import { money, nullable, ROW_ID, text, uuid } from '../db/columns.ts';
import { queryRecords, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import { type CauseKind, OWN_ACCOUNTS, type Transfer } from './transfer.ts';

const OWN = OWN_ACCOUNTS.map((account) => `'${account}'`).join(', ');

const NEW = new RowSet({
  ...ROW_ID,
  debit: text(),
  credit: text(),
  amount: money,
  cause_kind: text(),
  cause_id: text(),
  resource_id: nullable(uuid),
  created_by: text<Actor>(),
});

const POST = statement(
  'ledger.post',
  // Causes are inserted before balances are locked: a duplicate fails, or waits for the concurrent duplicate, before it
  // blocks other transactions on a balance. Both are locked in primary key order, so that concurrent batches wait for each
  // other instead of deadlocking. `locked` sorts and locks; the update then finds every row already locked.
  `with moment as materialized (select caudal.now() as at),
   new as materialized (
     select * from ${NEW.as('new')}
   ),
   causes as (
     insert into caudal.ledger_causes (kind, id, organization_id, transfer_id)
     select cause_kind, cause_id, organization_id, id from new order by cause_kind, cause_id collate "C"
     returning id
   ),
   transfers as (
     insert into caudal.ledger_transfers
       (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, created_by, at)
     select organization_id, id, debit, credit, amount, cause_kind, cause_id, resource_id, created_by, at from new, moment
   ),
   change as materialized (
     select organization_id, account, sum(amount)::bigint as amount
     from (
       select organization_id, credit as account, amount from new
       union all
       select organization_id, debit, -amount from new
     ) as side
     where account in (${OWN})
     group by organization_id, account
   ),
   locked as materialized (
     select b.organization_id, b.account, c.amount from change c
     join caudal.ledger_balances b on b.organization_id = c.organization_id and b.account = c.account
     where (select count(*) from causes) > 0
     order by b.organization_id, b.account for update of b
   ),
   moved as (
     update caudal.ledger_balances b set balance_in_cents = b.balance_in_cents + l.amount, updated_at = moment.at
     from locked l, moment
     where b.organization_id = l.organization_id and b.account = l.account
     returning b.organization_id, b.account
   )
   select c.organization_id, c.account from change c
   where (c.organization_id, c.account) not in (select organization_id, account from moved)`,
);

/**
 * Posts transfers: causes, transfers and balances in one statement; balance rows locked in order (organization,
 * account), once per account per batch.
 * @throws the database's own error: 23505 on `ledger_cause_once` when a cause was posted before, 23514
 * `balance_not_below_zero` when an account does not hold what the batch as a whole takes from it
 */
export async function post(tx: Tx, transfers: readonly Transfer[]): Promise<void> {
  if (transfers.length === 0) return;
  const rows = transfers.map(({ cause, ...rest }) => ({ ...rest, causeKind: cause.kind, causeId: cause.id }));
  const [first] = await tx.query<{ organization_id: string; account: string }>(POST, NEW.parameters(rows));
  if (first) throw new Error(`organization ${first.organization_id} has no account ${first.account}`);
}

const OF_CAUSES = statement(
  'ledger.of-causes',
  `select t.organization_id, t.resource_id from caudal.ledger_causes c
   join caudal.ledger_transfers t on t.organization_id = c.organization_id and t.id = c.transfer_id
   where c.kind = $1 and c.id = any($2::text[]) and t.resource_id is not null`,
);

/** The resources that the transfers of these causes belong to. */
export function resourcesOfCauses(
  tx: Tx,
  kind: CauseKind,
  ids: readonly string[],
): Promise<{ readonly organizationId: string; readonly resourceId: string }[]> {
  return queryRecords(tx, OF_CAUSES, [kind, ids]);
}

const POSTED = statement(
  'ledger.posted',
  'select id from caudal.ledger_causes where kind = $1 and id = any($2::text[])',
);

/** The causes that have already been posted. */
export async function postedCauses(tx: Tx, kind: CauseKind, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(POSTED, [kind, ids]);
  return new Set(rows.map((row) => row.id));
}
