import { statement, type Tx } from '../db/tx.ts';
import { type SecretKey, seal } from '../kit/crypto.ts';

/** That a payer let us use their data: which text they agreed to, and where from. */
export interface Authorization {
  readonly textId: string;
  readonly address: string;
  readonly userAgent: string;
}

const INSERT = statement(
  'authorization.insert',
  'insert into caudal.payer_authorizations (organization_id, payin_id, text_id, at, evidence) values ($1, $2, $3, caudal.now(), $4)',
);

/** In the transaction that takes the data. */
export async function insertAuthorization(
  tx: Tx,
  dataKey: SecretKey,
  payin: { readonly organizationId: string; readonly id: string },
  { textId, ...evidence }: Authorization,
): Promise<void> {
  const identity = `payer_authorizations.evidence/${payin.organizationId}/${payin.id}`;
  const sealed = seal(dataKey, JSON.stringify(evidence), identity);
  await tx.query(INSERT, [payin.organizationId, payin.id, textId, sealed]);
}
