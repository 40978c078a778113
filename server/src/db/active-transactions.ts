import { statement, type Tx } from './tx.ts';

/** The range of active transaction ids. */
export interface ActiveTransactions {
  /** The oldest transaction that has not ended. */
  readonly oldest: bigint;
  /** The id that the next transaction will get. */
  readonly next: bigint;
}

const ACTIVE = statement(
  'transactions.active',
  'select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next from pg_current_snapshot() as s',
);

export async function readActiveTransactions(tx: Tx): Promise<ActiveTransactions> {
  const [row] = await tx.query<{ oldest: string; next: string }>(ACTIVE);
  if (!row) throw new Error('PostgreSQL returned no snapshot');
  return { oldest: BigInt(row.oldest), next: BigInt(row.next) };
}
