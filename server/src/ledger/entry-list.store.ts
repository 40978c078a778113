import { Keyset } from '../db/keyset.ts';
import type { Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import { cents } from '../kit/money.ts';
import type { Entry, EntryFilters } from './entry.ts';
import { OWN_ACCOUNTS } from './transfer.ts';

/** Up to `limit` entries after a position that touch the organization's own accounts, newest first. */
export async function listEntries(
  tx: Tx,
  organizationId: string,
  filters: EntryFilters,
  position: Position | null,
  limit: number,
): Promise<Entry[]> {
  const { account, createdFrom, createdTo } = filters;
  // The account is a literal, not a parameter, so that PostgreSQL can use the partial index.
  const touches = (account === undefined ? OWN_ACCOUNTS : [account])
    .map((each) => `t.debit_account = '${each}' or t.credit_account = '${each}'`)
    .join(' or ');
  const rows = await new Keyset('t', organizationId, position)
    .and(`(${touches})`)
    .between('at', createdFrom, createdTo)
    .read<EntryRow>(tx, `ledger-entry.list:${account ?? 'all'}`, SELECT, limit);
  return rows.map(entryFromRow);
}

const SELECT =
  'select t.id, t.debit_account, t.credit_account, t.amount_in_cents, t.cause_kind, t.resource_id, t.at from caudal.ledger_transfers t';

interface EntryRow {
  id: string;
  debit_account: Entry['debit'];
  credit_account: Entry['credit'];
  amount_in_cents: bigint;
  cause_kind: Entry['causeKind'];
  resource_id: string | null;
  at: Date;
}

function entryFromRow(row: EntryRow): Entry {
  return {
    id: row.id,
    debit: row.debit_account,
    credit: row.credit_account,
    amount: cents(row.amount_in_cents),
    causeKind: row.cause_kind,
    resourceId: row.resource_id,
    at: row.at,
  };
}
