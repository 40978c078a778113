import { queryRecords } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { ActionFilters, OperatorAction, StoredAction } from './operator-action.ts';

const INSERT = statement(
  'operator-action.insert',
  `insert into caudal.operator_actions (organization_id, operator, action, phase, resource, details, note)
   values ($1, $2, $3, $4, $5, $6, $7) returning id`,
);

/**
 * Writes an audit row in the transaction of the change, so that neither commits without the other. No role can change
 * or delete it afterwards.
 * @returns its id
 */
export async function recordAction(tx: Tx, action: OperatorAction): Promise<string> {
  const [row] = await tx.query<{ id: string }>(INSERT, [
    action.organizationId,
    action.operator,
    action.action,
    action.phase ?? 'done',
    action.resource,
    JSON.stringify(action.details ?? {}),
    action.note ?? null,
  ]);
  if (!row) throw new Error('the audit row was not inserted');
  return row.id;
}

const COLUMNS = {
  organizationId: 'organization_id',
  operator: 'operator',
  action: 'action',
} as const;

/** Newest first. Each combination of filters is a separate statement, so that the plan uses the index of the filter. */
export function listActions(
  tx: Pick<Tx, 'query'>,
  filters: ActionFilters,
  limit: number,
): Promise<StoredAction[]> {
  const names = (['organizationId', 'operator', 'action'] as const).filter((name) => filters[name] !== null);
  const conditions = names.map((name, index) => `${COLUMNS[name]} = $${index + 3}`);
  return queryRecords(
    tx,
    statement(
      `operator-action.list:${names.join(',')}`,
      `select id, at, operator, action, phase, resource, details, note, organization_id from caudal.operator_actions
       where ${[`at >= coalesce($2::timestamptz, '-infinity')`, ...conditions].join(' and ')}
       order by at desc, id desc limit $1`,
    ),
    [limit, filters.since, ...names.map((name) => filters[name])],
  );
}

const IS_READY = statement(
  'operator-action.is-ready',
  `select exists (
     select from pg_attribute where attrelid = to_regclass('caudal.operator_actions') and attname = 'phase'
   ) as ready`,
);

/** Whether the audit table has the columns that this version writes: `migrate` also runs before they exist. */
export async function auditIsReady(db: Pick<Tx, 'query'>): Promise<boolean> {
  const [row] = await db.query<{ ready: boolean }>(IS_READY);
  return row?.ready ?? false;
}
