import { statement, type Tx } from '../db/tx.ts';

const ADVANCE = statement('id-clock.advance', 'select caudal.advance_id_clock()');

/** Raises the id high-water mark to the current time, or records that the database clock stepped back. */
export async function advanceIdClock(tx: Pick<Tx, 'query'>): Promise<void> {
  await tx.query(ADVANCE);
}
