import { statement, type Tx } from '../db/tx.ts';
import type { Rail } from '../rails/contract.ts';

/** A rail execution and the payout it is attributed to; null for money that no payout of ours explains. */
export interface PayoutExecution {
  readonly rail: Rail;
  readonly executionId: string;
  readonly organizationId: string;
  readonly payoutId: string | null;
}

const RECORD = statement(
  'payout-execution.record',
  // In primary key order, so that concurrent batches wait for each other instead of deadlocking.
  `insert into caudal.payout_executions (rail, execution_id, organization_id, payout_id)
   select e.rail, e.execution_id, e.organization_id, e.payout_id
   from unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[]) as e (rail, execution_id, organization_id, payout_id)
   order by e.rail, e.execution_id collate "C"`,
);

/**
 * Attributes executions to payouts, permanently.
 * @throws the database's own error, 23505 on `payout_execution_once`, when a concurrent transaction recorded one of them.
 * The caller then applies its updates one at a time, and `accountedExecutions` finds the execution recorded.
 */
export async function recordExecutions(tx: Tx, executions: readonly PayoutExecution[]): Promise<void> {
  if (executions.length === 0) return;
  await tx.query(RECORD, [
    executions.map((each) => each.rail),
    executions.map((each) => each.executionId),
    executions.map((each) => each.organizationId),
    executions.map((each) => each.payoutId),
  ]);
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
