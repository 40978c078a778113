import type { RowId } from '../db/columns.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';
import type { Transfer } from './transfer.ts';

/** References are unique per organization: two organizations may use the same one. */
export function depositCause(organizationId: string, reference: string): Transfer['cause'] {
  return { kind: 'deposit', id: `${organizationId}:${reference}` };
}

const INSERT = statement(
  'deposit.insert',
  `insert into caudal.deposits (organization_id, id, amount_in_cents, reference, at) values ($1, $2, $3, $4, caudal.now())`,
);

/** Records a deposit beside its transfer, which has the same id. `ledger verify` compares the two. */
export async function insertDeposit(
  tx: Tx,
  { organizationId, id }: RowId,
  amount: Cents,
  reference: string,
): Promise<void> {
  await tx.query(INSERT, [organizationId, id, amount, reference]);
}
