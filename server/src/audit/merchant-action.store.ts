import { statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';

/** What a merchant's request did to resources that existed before it. Creations are attributed by their own rows. */
export type MerchantActionCode =
  | 'payout.cancel'
  | 'payment_link.expire'
  | 'webhook_endpoint.update'
  | 'webhook_endpoint.rotate_secret'
  | 'webhook_endpoint.delete'
  | 'webhook_endpoint.test'
  | 'event.replay'
  | 'events.replay';

export interface MerchantAction {
  /** UUIDv7: its time selects the monthly partition. */
  readonly id: string;
  readonly organizationId: string;
  readonly createdBy: Actor;
  readonly action: MerchantActionCode;
  /** Null when the action concerns several resources. */
  readonly resourceId: string | null;
}

const INSERT = statement(
  'merchant-action.insert',
  `insert into caudal.merchant_actions (organization_id, id, created_by, action, resource_id, at)
   values ($1, $2, $3, $4, $5, caudal.now())`,
);

/** Records the action in the transaction of its change, so that neither commits without the other. */
export async function insertMerchantAction(tx: Tx, action: MerchantAction): Promise<void> {
  const { organizationId, id, createdBy, resourceId } = action;
  await tx.query(INSERT, [organizationId, id, createdBy, action.action, resourceId]);
}
