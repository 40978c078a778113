import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { releaseIdempotencyKeys, reserveIdempotencyKeys } from '../../idempotency/idempotency.store.ts';
import { apiKeyActor } from '../../kit/actor.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { OrganizationSecrets, Principal } from '../../organizations/organization.ts';
import { decryptPart, encryptPart } from '../../webhooks/endpoint.encryption.ts';
import {
  changeEndpoint,
  decryptEndpoint,
  deleteEndpoint,
  type EndpointRecord,
  findCreationResponse,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  rotateSecret,
  storeCreationResponse,
} from '../../webhooks/endpoint.store.ts';
import { DISABLED_BY_OWNER, type Endpoint, type StaticHeader } from '../../webhooks/endpoint.ts';
import { lockQueue, pauseQueues, resumeQueue } from '../../webhooks/queue.store.ts';
import { formatWebhookSecret, generateWebhookSecret } from '../../webhooks/signature.ts';
import { type Idempotency, idempotencyReservation } from '../shared/creation-request.ts';
import { recordMerchantAction } from '../shared/record-merchant-action.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

/** Limit per organization: each event may be delivered to every endpoint. */
const MAX_ENDPOINTS = 50;
const OPERATION = 'webhook-endpoints.create';
const TRANSACTION = 'manage endpoints';
/** The replaced secret keeps signing for this long. */
export const ROTATION_SECONDS = 86_400;

export interface EndpointRequest {
  readonly url: string;
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly staticHeader: StaticHeader | null;
}

export interface EndpointWithSecret {
  readonly endpoint: Endpoint;
  readonly secret: string;
}

/**
 * The secret is returned here and to retries of the same request, and never again.
 * @throws ApiError `too_many_endpoints`, `idempotency_mismatch`, `outcome_unknown`, `service_unavailable`
 */
export async function createEndpoint(
  deps: Deps,
  principal: Principal,
  request: EndpointRequest,
  idempotency: Idempotency | null,
): Promise<EndpointWithSecret & { readonly replayed: boolean }> {
  const { organization, secrets, keyId } = principal;
  const id = uuidv7(deps.clock.now(), deps.cell);
  const idempotencyKey = idempotencyReservation(secrets, OPERATION, idempotency);
  const reservation =
    idempotencyKey === null ? null : { organizationId: organization.id, ...idempotencyKey, resourceId: id };
  return writeForMerchant(deps, TRANSACTION, organization.id, async (tx) => {
    if (reservation !== null) {
      const [holder] = await reserveIdempotencyKeys(tx, [reservation]);
      if (holder && holder.resourceId !== id) {
        if (!holder.bodyHash.equals(reservation.bodyHash)) return new ApiError('idempotency_mismatch');
        return storedResponse(tx, organization.id, holder.resourceId, secrets);
      }
    }
    // Without a lock: two concurrent creations may exceed the limit by one, which is harmless.
    if ((await listEndpoints(tx, organization.id, MAX_ENDPOINTS)).length >= MAX_ENDPOINTS) {
      // A rejected request releases its idempotency key, so that it can succeed once an endpoint was deleted.
      if (reservation !== null) await releaseIdempotencyKeys(tx, [reservation]);
      return new ApiError('too_many_endpoints');
    }
    const secret = generateWebhookSecret();
    const inserted = await insertEndpoint(tx, {
      organizationId: organization.id,
      id,
      encryptedUrl: encryptPart(secrets.dataKey, 'address', request.url, organization.id, id),
      events: request.events,
      description: request.description,
      encryptedStaticHeader: encryptHeader(secrets, request.staticHeader, organization.id, id),
      encryptedSecret: encryptPart(secrets.dataKey, 'secret', secret, organization.id, id),
      createdBy: apiKeyActor(keyId),
    });
    const created = {
      endpoint: decryptEndpoint(inserted, secrets.dataKey),
      secret: formatWebhookSecret(secret),
    };
    if (reservation !== null)
      await storeCreationResponse(
        tx,
        organization.id,
        id,
        encryptPart(secrets.dataKey, 'created_as', JSON.stringify(created), organization.id, id),
      );
    return { ...created, replayed: false };
  });
}

/** Returns the endpoint as it was created, ignoring later changes. */
async function storedResponse(tx: Tx, organizationId: string, id: string, { dataKey }: OrganizationSecrets) {
  const encrypted = await findCreationResponse(tx, organizationId, id);
  if (!encrypted) return new ApiError('not_found');
  const { endpoint, secret } = JSON.parse(
    decryptPart(dataKey, 'created_as', encrypted, organizationId, id).toString('utf8'),
    (name, value: unknown) =>
      name === 'createdAt' || name === 'updatedAt' ? new Date(String(value)) : value,
  ) as EndpointWithSecret;
  return { endpoint, secret, replayed: true };
}

export async function readEndpoints(deps: Deps, { organization, secrets }: Principal): Promise<Endpoint[]> {
  const rows = await deps.read.read(organization.id, (tx) =>
    listEndpoints(tx, organization.id, MAX_ENDPOINTS),
  );
  return rows.map((row) => decryptEndpoint(row, secrets.dataKey));
}

/** @throws ApiError `not_found` */
export async function readEndpoint(
  deps: Deps,
  { organization, secrets }: Principal,
  id: string,
): Promise<Endpoint> {
  const row = await deps.read.read(organization.id, (tx) => findEndpoint(tx, organization.id, id));
  if (!row) throw new ApiError('not_found');
  return decryptEndpoint(row, secrets.dataKey);
}

/** An undefined member is left unchanged. */
export type EndpointUpdate = {
  readonly [name in keyof EndpointRequest]?: EndpointRequest[name] | undefined;
} & {
  readonly status?: 'ENABLED' | 'DISABLED' | undefined;
};

/** Enabling an endpoint resumes its pending deliveries. @throws ApiError `not_found`, `outcome_unknown`, `service_unavailable` */
export async function updateEndpoint(
  deps: Deps,
  principal: Principal,
  id: string,
  update: EndpointUpdate,
): Promise<Endpoint> {
  const { organization, secrets } = principal;
  const { dataKey } = secrets;
  const row = await writeForMerchant(
    deps,
    TRANSACTION,
    organization.id,
    async (tx): Promise<EndpointRecord | ApiError> => {
      if (!(await lockQueue(tx, organization.id, id))) return new ApiError('not_found');
      const changed = await changeEndpoint(
        tx,
        organization.id,
        id,
        {
          encryptedUrl:
            update.url === undefined
              ? undefined
              : encryptPart(dataKey, 'address', update.url, organization.id, id),
          events: update.events,
          description: update.description,
          encryptedStaticHeader:
            update.staticHeader === undefined
              ? undefined
              : encryptHeader(secrets, update.staticHeader, organization.id, id),
          status: update.status,
        },
        DISABLED_BY_OWNER,
      );
      if (!changed) return new ApiError('not_found');
      await recordMerchantAction(deps, tx, principal, 'webhook_endpoint.update', id);
      if (changed.status === 'DISABLED') await pauseQueues(tx, [{ organizationId: organization.id, id }]);
      else if (update.status !== undefined || update.url !== undefined)
        await resumeQueue(tx, organization.id, id);
      return changed;
    },
  );
  deps.signals.raise('webhook_delivery');
  return decryptEndpoint(row, dataKey);
}

/** @throws ApiError `not_found`, `outcome_unknown`, `service_unavailable` */
export async function removeEndpoint(deps: Deps, principal: Principal, id: string): Promise<void> {
  const { organization } = principal;
  await writeForMerchant(deps, TRANSACTION, organization.id, async (tx): Promise<true | ApiError> => {
    const found = await lockQueue(tx, organization.id, id);
    if (!found || !(await deleteEndpoint(tx, organization.id, id))) return new ApiError('not_found');
    await recordMerchantAction(deps, tx, principal, 'webhook_endpoint.delete', id);
    await pauseQueues(tx, [{ organizationId: organization.id, id }]);
    return true;
  });
}

/** The old and the new secret both sign for a day. @throws ApiError `not_found`, `outcome_unknown`, `service_unavailable` */
export async function rotateEndpointSecret(
  deps: Deps,
  principal: Principal,
  id: string,
): Promise<EndpointWithSecret> {
  const { organization, secrets } = principal;
  const secret = generateWebhookSecret();
  const encrypted = encryptPart(secrets.dataKey, 'secret', secret, organization.id, id);
  const row = await writeForMerchant(
    deps,
    TRANSACTION,
    organization.id,
    async (tx): Promise<EndpointRecord | ApiError> => {
      const rotated = await rotateSecret(tx, organization.id, id, encrypted, ROTATION_SECONDS);
      if (!rotated) return new ApiError('not_found');
      await recordMerchantAction(deps, tx, principal, 'webhook_endpoint.rotate_secret', id);
      return rotated;
    },
  );
  return { endpoint: decryptEndpoint(row, secrets.dataKey), secret: formatWebhookSecret(secret) };
}

function encryptHeader(
  { dataKey }: OrganizationSecrets,
  header: StaticHeader | null,
  organizationId: string,
  id: string,
): Buffer | null {
  return header === null
    ? null
    : encryptPart(dataKey, 'static_header', JSON.stringify(header), organizationId, id);
}
