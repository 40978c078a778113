import { queryRecord } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';
import { reversalCause } from './reversal.ts';
import type { CauseKind, Transfer } from './transfer.ts';

/** A posted transfer. */
export type Posting = Pick<
  Transfer,
  'organizationId' | 'id' | 'debit' | 'credit' | 'amount' | 'resourceId'
> & {
  readonly causeKind: CauseKind;
};

const COLUMNS =
  't.organization_id, t.id, t.debit_account as debit, t.credit_account as credit, t.amount_in_cents, t.cause_kind, t.resource_id';

const BY_ID = statement(
  'posting.by-id',
  `select ${COLUMNS} from caudal.ledger_transfers t where t.organization_id = $1 and t.id = $2`,
);

export function postingById(tx: Tx, organizationId: string, id: string): Promise<Posting | null> {
  return queryRecord(tx, BY_ID, [organizationId, id]);
}

const BY_CAUSE = statement(
  'posting.by-cause',
  `select ${COLUMNS} from caudal.ledger_causes c
   join caudal.ledger_transfers t on t.organization_id = c.organization_id and t.id = c.transfer_id
   where c.kind = $1 and c.id = $2`,
);

export function postingByCause(tx: Tx, cause: Transfer['cause']): Promise<Posting | null> {
  return queryRecord(tx, BY_CAUSE, [cause.kind, cause.id]);
}

/** @returns the reversed amount, null when the transfer was not reversed */
export async function reversedAmount(tx: Tx, transferId: string): Promise<Cents | null> {
  return (await postingByCause(tx, reversalCause(transferId)))?.amount ?? null;
}
