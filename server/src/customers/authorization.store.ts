import type { RowId } from '../db/columns.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { KeyRing } from '../kit/key-ring.ts';

/** A payer's consent to the use of their data: the text they agreed to, and the evidence. */
export interface Authorization {
  readonly textId: string;
  readonly address: string;
  readonly userAgent: string;
}

const INSERT = statement(
  'authorization.insert',
  'insert into caudal.payer_authorizations (organization_id, payin_id, text_id, at, evidence) values ($1, $2, $3, caudal.now(), $4)',
);

/** Call it in the transaction that stores the data. */
export async function insertAuthorization(
  tx: Tx,
  dataKey: KeyRing,
  payin: RowId,
  { textId, ...evidence }: Authorization,
): Promise<void> {
  const identity = `payer_authorizations.evidence/${payin.organizationId}/${payin.id}`;
  const encrypted = dataKey.encrypt(JSON.stringify(evidence), identity);
  await tx.query(INSERT, [payin.organizationId, payin.id, textId, encrypted]);
}
