import { statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';

export interface Settlement {
  readonly id: string;
  readonly organizationId: string;
  readonly amount: Cents;
  /** Number of payins. */
  readonly payins: number;
}

const INSERT = statement(
  'settlement.insert',
  `insert into caudal.settlements (organization_id, id, amount_in_cents, payins, at)
   select organization_id, id, amount, payins, caudal.now()
   from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::integer[]) as new (organization_id, id, amount, payins)`,
);

export async function insertSettlements(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  await tx.query(INSERT, [
    settlements.map((settlement) => settlement.organizationId),
    settlements.map((settlement) => settlement.id),
    settlements.map((settlement) => settlement.amount),
    settlements.map((settlement) => settlement.payins),
  ]);
}
