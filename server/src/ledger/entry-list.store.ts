import { statement, type Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import { uuidFloor } from '../kit/ids.ts';
import { cents } from '../kit/money.ts';
import type { Entry, EntryFilters } from './entry.ts';
import { OWN_ACCOUNTS } from './transfer.ts';

/** An id is stamped by a process that hears the database's time twice a second; a minute covers what they may differ. */
const MARGIN_MS = 60_000;

/**
 * Up to `most` entries beyond a position, newest first: those that touch the organization's own accounts. Keyset on the
 * id, as in the list of payins.
 */
export async function listEntries(
  tx: Tx,
  organizationId: string,
  filters: EntryFilters,
  position: Position | null,
  most: number,
): Promise<Entry[]> {
  const accounts = filters.account === undefined ? OWN_ACCOUNTS : [filters.account];
  const values: unknown[] = [organizationId, accounts];
  const conditions = [
    't.organization_id = $1',
    '(t.debit_account = any($2::text[]) or t.credit_account = any($2::text[]))',
  ];
  const add = (condition: string, value: unknown) => {
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length}`));
  };
  const newer = position?.direction === 'newer';
  if (position) add(newer ? 't.id > ?' : 't.id < ?', position.id);
  if (filters.createdFrom) {
    add('t.at >= ?', filters.createdFrom);
    add('t.id >= ?', uuidFloor(filters.createdFrom.getTime() - MARGIN_MS));
  }
  if (filters.createdTo) {
    add('t.at < ?', filters.createdTo);
    add('t.id < ?', uuidFloor(filters.createdTo.getTime() + MARGIN_MS));
  }
  values.push(most);
  const text = `select t.id, t.debit_account, t.credit_account, t.amount_in_cents, t.cause_kind, t.resource_id, t.at
    from caudal.ledger_transfers t where ${conditions.join(' and ')}
    order by t.id ${newer ? 'asc' : 'desc'} limit $${values.length}`;
  const rows = await tx.query<EntryRow>(statement(shapeName(filters, position), text), values);
  return (newer ? rows.toReversed() : rows).map(entryOf);
}

/** One prepared statement for each shape of the question. */
function shapeName(filters: EntryFilters, position: Position | null): string {
  const from = filters.createdFrom ? '1' : '0';
  const to = filters.createdTo ? '1' : '0';
  return `ledger-entry.list:${position?.direction ?? 'first'}:${from}${to}`;
}

interface EntryRow {
  id: string;
  debit_account: Entry['debit'];
  credit_account: Entry['credit'];
  amount_in_cents: bigint;
  cause_kind: Entry['causeKind'];
  resource_id: string | null;
  at: Date;
}

function entryOf(row: EntryRow): Entry {
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
