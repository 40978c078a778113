import { type Statement, statement, type Tx } from '../db/tx.ts';
import { isWorkKind, type WorkKind } from './work-signals.ts';

/** For each kind an SQL condition that holds while a row of it is due and unclaimed. */
export type DueProbes = Readonly<Record<WorkKind, string>>;

/** One statement for all kinds: at rest it is the only one that a worker's loops cost. */
export function dueWorkStatement(probes: DueProbes): Statement {
  const kinds = Object.entries(probes).map(([kind, due]) => `case when ${due} then '${kind}' end`);
  // Business time takes a query of its own, and in each of dozens of index conditions it would be half of the cost.
  const conditions = kinds.join(',\n').replaceAll('caudal.now()', '(select at from moment)');
  return statement(
    'due-work',
    `with moment as materialized (select caudal.now() as at) select array_remove(array[${conditions}], null) as kinds`,
  );
}

export async function readDueWork(tx: Pick<Tx, 'query'>, due: Statement): Promise<WorkKind[]> {
  const [row] = await tx.query<{ kinds: string[] }>(due);
  return (row?.kinds ?? []).filter(isWorkKind);
}
