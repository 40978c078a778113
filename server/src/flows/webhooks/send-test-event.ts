import type { Deps } from '../../deps.ts';
import { recordTestEvent } from '../../events/event.store.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Principal } from '../../organizations/organization.ts';
import { insertTestDelivery } from '../../webhooks/delivery.store.ts';
import { findEndpoint } from '../../webhooks/endpoint.store.ts';
import { recordMerchantAction } from '../shared/record-merchant-action.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

/**
 * Sends a test event to one endpoint through the regular delivery path.
 * @returns the event's id
 * @throws ApiError `not_found`, `endpoint_disabled`, `outcome_unknown`, `service_unavailable`
 */
export async function sendTestEvent(deps: Deps, principal: Principal, endpointId: string): Promise<string> {
  const { organization, secrets } = principal;
  const id = uuidv7(deps.clock.now(), deps.cell);
  const createdAt = new Date(Math.floor(deps.clock.time()));
  const eventId = await writeForMerchant(
    deps,
    'manage endpoints',
    organization.id,
    async (tx): Promise<string | ApiError> => {
      const endpoint = await findEndpoint(tx, organization.id, endpointId);
      if (!endpoint) return new ApiError('not_found');
      if (endpoint.status === 'DISABLED') return new ApiError('endpoint_disabled');
      const event = { organizationId: organization.id, id, endpointId, createdAt };
      await recordTestEvent(tx, event, secrets.dataKey);
      await insertTestDelivery(tx, organization.id, endpointId, id);
      await recordMerchantAction(deps, tx, principal, 'webhook_endpoint.test', endpointId);
      return id;
    },
  );
  deps.signals.raise('webhook_delivery');
  return eventId;
}
