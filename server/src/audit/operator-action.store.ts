import { statement, type Tx } from '../db/tx.ts';

/** Something a person decided about money, beside what rails said. */
export interface OperatorAction {
  readonly id: string;
  readonly organizationId: string;
  readonly operator: string;
  readonly action: string;
  /** The payout or anomaly it is about. */
  readonly resourceId: string;
  readonly note: string | null;
}

const INSERT = statement(
  'operator-action.insert',
  `insert into caudal.operator_actions (organization_id, id, operator, action, resource_id, note) values ($1, $2, $3, $4, $5, $6)`,
);

/** In the transaction of what was done: nothing is done without it, and no role may change it afterwards. */
export async function recordAction(tx: Tx, action: OperatorAction): Promise<void> {
  await tx.query(INSERT, [
    action.organizationId,
    action.id,
    action.operator,
    action.action,
    action.resourceId,
    action.note,
  ]);
}

const RECENT = statement(
  'operator-action.recent',
  'select organization_id, id, at, operator, action, resource_id, note from caudal.operator_actions order by at desc, id desc limit $1',
);

/** Newest first. */
export async function recentActions(
  tx: Pick<Tx, 'query'>,
  most: number,
): Promise<(OperatorAction & { readonly at: Date })[]> {
  const rows = await tx.query<{
    organization_id: string;
    id: string;
    at: Date;
    operator: string;
    action: string;
    resource_id: string;
    note: string | null;
  }>(RECENT, [most]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    at: row.at,
    operator: row.operator,
    action: row.action,
    resourceId: row.resource_id,
    note: row.note,
  }));
}
