import { statement, type Tx } from '../db/tx.ts';

const KEEP = statement(
  'pse-bank.keep',
  `with moment as materialized (select caudal.now() as at)
   insert into caudal.pse_banks (network_code, name, seen_at)
   select b.network_code, b.name, moment.at from moment, unnest($1::text[], $2::text[]) as b (network_code, name)
   on conflict (network_code) do update set name = excluded.name, seen_at = excluded.seen_at
   where pse_banks.seen_at < excluded.seen_at`,
);

/**
 * Writes down a list of the network. A bank that is not in it keeps its row. An older list that arrives late changes
 * nothing of a newer one: else the banks it lacks would be the only ones still seen.
 * @param banks sorted by network code
 */
export async function keepBanks(
  tx: Tx,
  banks: readonly { readonly networkCode: string; readonly name: string }[],
): Promise<void> {
  await tx.query(KEEP, [banks.map((bank) => bank.networkCode), banks.map((bank) => bank.name)]);
}

const NEWEST_LIST = statement(
  'pse-bank.newest-list',
  'select network_code from caudal.pse_banks where seen_at = (select max(seen_at) from caudal.pse_banks)',
);

/** Network codes of the newest list; empty when there has never been one. */
export async function newestBanks(tx: Pick<Tx, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ network_code: string }>(NEWEST_LIST);
  return new Set(rows.map((row) => row.network_code));
}
