import { statement, type Tx } from './tx.ts';

/** Which transactions are under way, by their numbers. */
export interface Underway {
  /** The oldest that has not ended. */
  readonly oldest: bigint;
  /** What the next one to begin will have. */
  readonly next: bigint;
}

const UNDERWAY = statement(
  'transactions.underway',
  'select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next from pg_current_snapshot() as s',
);

export async function transactionsUnderway(tx: Tx): Promise<Underway> {
  const [row] = await tx.query<{ oldest: string; next: string }>(UNDERWAY);
  if (!row) throw new Error('there is no snapshot');
  return { oldest: BigInt(row.oldest), next: BigInt(row.next) };
}
