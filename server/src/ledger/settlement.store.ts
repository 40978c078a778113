import { copied, insertSelect, integer, money, ROW_ID } from '../db/columns.ts';
import { type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

const COLUMNS = {
  ...ROW_ID,
  amount_in_cents: money,
  /** Number of payins. */
  payins: integer,
};
const NEW = new RowSet(COLUMNS);

export type Settlement = RecordOf<typeof NEW>;

const INSERT = statement(
  'settlement.insert',
  `${insertSelect('caudal.settlements', { ...copied(COLUMNS), at: 'caudal.now()' })} from ${NEW.as('new')}`,
);

export async function insertSettlements(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  await tx.query(INSERT, NEW.parameters(settlements));
}
