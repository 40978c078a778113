import { queryRow } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

const FIND_CODE = statement(
  'receipt.find-code',
  'select code from caudal.receipts where organization_id = $1 and payin_id = $2',
);

/** @returns null if no receipt of the payin was issued */
export async function findReceiptCode(
  tx: Tx,
  organizationId: string,
  payinId: string,
): Promise<string | null> {
  return (await queryRow<{ code: string }>(tx, FIND_CODE, [organizationId, payinId]))?.code ?? null;
}

const ISSUE = statement(
  'receipt.issue',
  `insert into caudal.receipts as r (organization_id, payin_id, code, issued_at) values ($1, $2, $3, caudal.now())
   on conflict (organization_id, payin_id) do nothing
   returning r.code`,
);

/** Stores the code of a payin's receipt. @returns the stored code, which is an earlier one if the receipt exists */
export async function insertReceipt(
  tx: Tx,
  organizationId: string,
  payinId: string,
  code: string,
): Promise<string | null> {
  const inserted = await queryRow<{ code: string }>(tx, ISSUE, [organizationId, payinId, code]);
  return inserted?.code ?? findReceiptCode(tx, organizationId, payinId);
}

const FIND_PAYIN = statement(
  'receipt.find-payin',
  `select o.number, r.payin_id from caudal.receipts r join caudal.organizations o on o.id = r.organization_id
   where r.code = $1`,
);

/** The payin of a receipt code, with the number of its organization. */
export async function findReceiptPayin(
  tx: Pick<Tx, 'query'>,
  code: string,
): Promise<{ readonly organizationNumber: number; readonly id: string } | null> {
  const row = await queryRow<{ number: number; payin_id: string }>(tx, FIND_PAYIN, [code]);
  return row && { organizationNumber: row.number, id: row.payin_id };
}
