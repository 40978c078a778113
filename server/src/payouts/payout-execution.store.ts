import { copied, insertSelect, nullable, text, uuid } from '../db/columns.ts';
import { type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Rail } from '../rails/contract.ts';

/** A rail execution and the payout it is attributed to; null for money that no payout of ours explains. */
export type PayoutExecution = RecordOf<typeof EXECUTIONS>;

const COLUMNS = {
  rail: text<Rail>(),
  execution_id: text(),
  organization_id: uuid,
  payout_id: nullable(uuid),
};
const EXECUTIONS = new RowSet(COLUMNS);

const RECORD = statement(
  'payout-execution.record',
  // In primary key order, so that concurrent batches wait for each other instead of deadlocking.
  `${insertSelect('caudal.payout_executions', copied(COLUMNS))} from ${EXECUTIONS.as('e')}
   order by e.rail, e.execution_id collate "C"`,
);

/**
 * Attributes executions to payouts, permanently.
 * @throws the database's own error, 23505 on `payout_execution_once`, when a concurrent transaction recorded one of them.
 * The caller then applies its updates one at a time, and `accountedExecutions` finds the execution recorded.
 */
export async function recordExecutions(tx: Tx, executions: readonly PayoutExecution[]): Promise<void> {
  if (executions.length > 0) await tx.query(RECORD, EXECUTIONS.parameters(executions));
}

const READ = statement(
  'payout-execution.read',
  `select execution_id, payout_id from caudal.payout_executions where rail = $1 and execution_id = any ($2::text[])`,
);

/** The executions that are already attributed, and to which payout. */
export async function accountedExecutions(
  tx: Tx,
  rail: Rail,
  executionIds: readonly string[],
): Promise<Map<string, string | null>> {
  if (executionIds.length === 0) return new Map();
  const rows = await tx.query<{ execution_id: string; payout_id: string | null }>(READ, [rail, executionIds]);
  return new Map(rows.map((row) => [row.execution_id, row.payout_id]));
}
