import { insertMerchantAction, type MerchantActionCode } from '../../audit/merchant-action.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { apiKeyActor } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Principal } from '../../organizations/organization.ts';

/** Attributes a change of an existing resource to the API key of the request, in the transaction of the change. */
export function recordMerchantAction(
  { clock, cell }: Pick<Deps, 'clock' | 'cell'>,
  tx: Tx,
  { organization, keyId }: Pick<Principal, 'organization' | 'keyId'>,
  action: MerchantActionCode,
  resourceId: string | null,
): Promise<void> {
  return insertMerchantAction(tx, {
    id: uuidv7(clock.now(), cell),
    organizationId: organization.id,
    createdBy: apiKeyActor(keyId),
    action,
    resourceId,
  });
}
