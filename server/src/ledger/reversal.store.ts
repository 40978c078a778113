import { statement, type Tx } from '../db/tx.ts';
import { type Cents, cents } from '../kit/money.ts';
import { reversalCause } from './reversal.ts';
import type { Account, CauseKind, Transfer } from './transfer.ts';

/** A posted transfer. */
export type Posting = Pick<
  Transfer,
  'organizationId' | 'id' | 'debit' | 'credit' | 'amount' | 'resourceId'
> & {
  readonly causeKind: CauseKind;
};

interface PostingRow {
  organization_id: string;
  id: string;
  debit_account: Account;
  credit_account: Account;
  amount_in_cents: bigint;
  cause_kind: CauseKind;
  resource_id: string | null;
}

const COLUMNS =
  't.organization_id, t.id, t.debit_account, t.credit_account, t.amount_in_cents, t.cause_kind, t.resource_id';

const BY_ID = statement(
  'posting.by-id',
  `select ${COLUMNS} from caudal.ledger_transfers t where t.organization_id = $1 and t.id = $2`,
);

export async function postingById(tx: Tx, organizationId: string, id: string): Promise<Posting | null> {
  const [row] = await tx.query<PostingRow>(BY_ID, [organizationId, id]);
  return row ? postingFromRow(row) : null;
}

const BY_CAUSE = statement(
  'posting.by-cause',
  `select ${COLUMNS} from caudal.ledger_causes c
   join caudal.ledger_transfers t on t.organization_id = c.organization_id and t.id = c.transfer_id
   where c.kind = $1 and c.id = $2`,
);

export async function postingByCause(tx: Tx, cause: Transfer['cause']): Promise<Posting | null> {
  const [row] = await tx.query<PostingRow>(BY_CAUSE, [cause.kind, cause.id]);
  return row ? postingFromRow(row) : null;
}

/** @returns the reversed amount, null when the transfer was not reversed */
export async function reversedAmount(tx: Tx, transferId: string): Promise<Cents | null> {
  return (await postingByCause(tx, reversalCause(transferId)))?.amount ?? null;
}

function postingFromRow(row: PostingRow): Posting {
  return {
    organizationId: row.organization_id,
    id: row.id,
    debit: row.debit_account,
    credit: row.credit_account,
    amount: cents(row.amount_in_cents),
    causeKind: row.cause_kind,
    resourceId: row.resource_id,
  };
}
