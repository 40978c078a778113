import { type Statement, statement, type Tx } from '../db/tx.ts';
import { isWorkKind, type WorkKind } from './work-signals.ts';

/** For each kind, an SQL condition that is true while a row is due and not leased. */
export type DueProbes = Readonly<Record<WorkKind, string>>;

/** One statement for all kinds: an idle worker runs no other. */
export function dueWorkStatement(probes: DueProbes): Statement {
  const kinds = Object.entries(probes).map(([kind, due]) => `case when ${due} then '${kind}' end`);
  // caudal.now() runs a query; evaluating it in each of dozens of index conditions would be half of the cost.
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
