import { statement, type Tx } from '../db/tx.ts';
import { type Cents, cents } from '../kit/money.ts';
import type { Transfer } from './transfer.ts';

/** The operator's reference belongs to the organization: two may use the same. */
export function depositCause(organizationId: string, reference: string): Transfer['cause'] {
  return { kind: 'deposit', id: `${organizationId}:${reference}` };
}

const BOOKED = statement(
  'deposit.booked',
  `select t.amount_in_cents from caudal.ledger_causes c
   join caudal.ledger_transfers t on t.organization_id = c.organization_id and t.id = c.transfer_id
   where c.kind = $1 and c.id = $2`,
);

/** @returns the amount under which the deposit was booked, null when it was not */
export async function bookedDeposit(tx: Tx, cause: Transfer['cause']): Promise<Cents | null> {
  const [row] = await tx.query<{ amount_in_cents: bigint }>(BOOKED, [cause.kind, cause.id]);
  return row ? cents(row.amount_in_cents) : null;
}
