import { Keyset } from '../db/keyset.ts';
import type { Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import type { Entry, EntryFilters } from './entry.ts';
import { OWN_ACCOUNTS } from './transfer.ts';

const SELECT = `select t.id, t.debit_account as debit, t.credit_account as credit, t.amount_in_cents as amount,
    t.cause_kind as "causeKind", t.resource_id as "resourceId", t.at
  from caudal.ledger_transfers t`;

/** Up to `limit` entries after a position that touch the organization's own accounts, newest first. */
export function listEntries(
  tx: Tx,
  organizationId: string,
  filters: EntryFilters,
  position: Position | null,
  limit: number,
): Promise<Entry[]> {
  const { account } = filters;
  // The account is a literal, not a parameter, so that PostgreSQL can use the partial index.
  const touches = (account === undefined ? OWN_ACCOUNTS : [account])
    .map((each) => `t.debit_account = '${each}' or t.credit_account = '${each}'`)
    .join(' or ');
  return new Keyset('t', organizationId, position)
    .and(`(${touches})`)
    .between('at', filters)
    .read<Entry>(tx, `ledger-entry.list:${account ?? 'all'}`, SELECT, limit);
}
