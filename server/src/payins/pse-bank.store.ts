import { text } from '../db/columns.ts';
import { RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

const BANKS = new RowSet({ network_code: text(), name: text() });

const SAVE = statement(
  'pse-bank.save',
  `with moment as materialized (select caudal.now() as at)
   insert into caudal.pse_banks (network_code, name, seen_at)
   select b.network_code, b.name, moment.at from moment, ${BANKS.as('b')}
   on conflict (network_code) do update set name = excluded.name, seen_at = excluded.seen_at
   where pse_banks.seen_at < excluded.seen_at`,
);

/**
 * Saves a bank list of the network. A bank that is missing from it keeps its row. An older list that arrives late must not
 * overwrite a newer one: otherwise only the banks missing from the older list would still count as the newest.
 * @param banks sorted by network code
 */
export async function saveBanks(
  tx: Tx,
  banks: readonly { readonly networkCode: string; readonly name: string }[],
): Promise<void> {
  await tx.query(SAVE, BANKS.parameters(banks));
}

const NEWEST_LIST = statement(
  'pse-bank.newest-list',
  'select network_code from caudal.pse_banks where seen_at = (select max(seen_at) from caudal.pse_banks)',
);

/** @returns the network codes of the newest list; empty when none was saved yet */
export async function newestBanks(tx: Pick<Tx, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ network_code: string }>(NEWEST_LIST);
  return new Set(rows.map((row) => row.network_code));
}
