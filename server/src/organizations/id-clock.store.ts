import { statement, type Tx } from '../db/tx.ts';

const KEEP = statement('id-clock.keep', 'select caudal.keep_id_clock()');

/** Raises the high-water mark of ids to the present, or records that the database's clock has gone back. */
export async function keepIdClock(tx: Pick<Tx, 'query'>): Promise<void> {
  await tx.query(KEEP);
}
