import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { releaseIdempotencyKeys, reserveIdempotencyKeys } from '../../idempotency/idempotency.store.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { OrganizationSecrets, Principal } from '../../organizations/organization.ts';
import { openPart, sealPart } from '../../webhooks/endpoint.seal.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  type EndpointRow,
  endpointOf,
  findCreated,
  findEndpoint,
  insertEndpoint,
  keepCreated,
  listEndpoints,
  rotateSecret,
} from '../../webhooks/endpoint.store.ts';
import { DISABLED_BY_OWNER, type Endpoint, type StaticHeader } from '../../webhooks/endpoint.ts';
import { lockQueue, pauseQueues, resumeQueue } from '../../webhooks/queue.store.ts';
import { freshWebhookSecret, printWebhookSecret } from '../../webhooks/signature.ts';
import { type Idempotency, idempotencyReservation } from '../shared/creation-request.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

/** More than any organization needs; each event goes to every one of them. */
const MOST_ENDPOINTS = 50;
const OPERATION = 'webhook-endpoints.create';
const TRANSACTION = 'manage endpoints';
/** For so long the secret that was signs too. */
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
 * Its secret is shown here, to a repeat of the same request, and never again.
 * @throws Fault `too_many_endpoints`, `idempotency_mismatch`, `outcome_unknown`, `service_unavailable`
 */
export async function createEndpoint(
  deps: Deps,
  principal: Principal,
  request: EndpointRequest,
  idempotency: Idempotency | null,
): Promise<EndpointWithSecret & { readonly replayed: boolean }> {
  const { organization, secrets } = principal;
  const id = uuidv7(deps.clock.now(), deps.cell);
  const key = idempotencyReservation(secrets, OPERATION, idempotency);
  const claim = key === null ? null : { organizationId: organization.id, ...key, resourceId: id };
  return writeForMerchant(deps, TRANSACTION, organization.id, async (tx) => {
    if (claim !== null) {
      const [holder] = await reserveIdempotencyKeys(tx, [claim]);
      if (holder && holder.resourceId !== id) {
        if (!holder.bodyHash.equals(claim.bodyHash)) return new ApiError('idempotency_mismatch');
        return repeated(tx, organization.id, holder.resourceId, secrets);
      }
    }
    // Together with the new one: two at the same time may both find a place, which does no harm.
    if ((await listEndpoints(tx, organization.id, MOST_ENDPOINTS)).length >= MOST_ENDPOINTS) {
      // Only what was made is remembered: once there is room, the same request is taken.
      if (claim !== null) await releaseIdempotencyKeys(tx, [claim]);
      return new ApiError('too_many_endpoints');
    }
    const secret = freshWebhookSecret();
    const row = await insertEndpoint(tx, {
      organizationId: organization.id,
      id,
      sealedAddress: sealPart(secrets.dataKey, 'address', request.url, organization.id, id),
      events: request.events,
      description: request.description,
      sealedStaticHeader: sealHeader(secrets, request.staticHeader, organization.id, id),
      sealedSecret: sealPart(secrets.dataKey, 'secret', secret, organization.id, id),
    });
    const created = { endpoint: endpointOf(row, secrets.dataKey), secret: printWebhookSecret(secret) };
    if (claim !== null)
      await keepCreated(
        tx,
        organization.id,
        id,
        sealPart(secrets.dataKey, 'created_as', JSON.stringify(created), organization.id, id),
      );
    return { ...created, replayed: false };
  });
}

/** As it was created, whatever became of it since. */
async function repeated(tx: Tx, organizationId: string, id: string, { dataKey }: OrganizationSecrets) {
  const sealed = await findCreated(tx, organizationId, id);
  if (!sealed) return new ApiError('not_found');
  const { endpoint, secret } = JSON.parse(
    openPart(dataKey, 'created_as', sealed, organizationId, id).toString('utf8'),
    (name, value: unknown) =>
      name === 'createdAt' || name === 'updatedAt' ? new Date(String(value)) : value,
  ) as EndpointWithSecret;
  return { endpoint, secret, replayed: true };
}

export async function readEndpoints(deps: Deps, { organization, secrets }: Principal): Promise<Endpoint[]> {
  const rows = await deps.read.read(organization.id, (tx) =>
    listEndpoints(tx, organization.id, MOST_ENDPOINTS),
  );
  return rows.map((row) => endpointOf(row, secrets.dataKey));
}

/** @throws Fault `not_found` */
export async function readEndpoint(
  deps: Deps,
  { organization, secrets }: Principal,
  id: string,
): Promise<Endpoint> {
  const row = await deps.read.read(organization.id, (tx) => findEndpoint(tx, organization.id, id));
  if (!row) throw new ApiError('not_found');
  return endpointOf(row, secrets.dataKey);
}

/** Left out: stays as it is. */
export type EndpointUpdate = {
  readonly [name in keyof EndpointRequest]?: EndpointRequest[name] | undefined;
} & {
  readonly status?: 'ENABLED' | 'DISABLED' | undefined;
};

/** Enabled again, what was held for it goes on. @throws Fault `not_found`, `outcome_unknown`, `service_unavailable` */
export async function updateEndpoint(
  deps: Deps,
  { organization, secrets }: Principal,
  id: string,
  update: EndpointUpdate,
): Promise<Endpoint> {
  const { dataKey } = secrets;
  const row = await writeForMerchant(
    deps,
    TRANSACTION,
    organization.id,
    async (tx): Promise<EndpointRow | ApiError> => {
      if (!(await lockQueue(tx, organization.id, id))) return new ApiError('not_found');
      const changed = await changeEndpoint(
        tx,
        organization.id,
        id,
        {
          sealedAddress:
            update.url === undefined
              ? undefined
              : sealPart(dataKey, 'address', update.url, organization.id, id),
          events: update.events,
          description: update.description,
          sealedStaticHeader:
            update.staticHeader === undefined
              ? undefined
              : sealHeader(secrets, update.staticHeader, organization.id, id),
          status: update.status,
        },
        DISABLED_BY_OWNER,
      );
      if (!changed) return new ApiError('not_found');
      if (changed.status === 'DISABLED') await pauseQueues(tx, [{ organizationId: organization.id, id }]);
      else if (update.status !== undefined || update.url !== undefined)
        await resumeQueue(tx, organization.id, id);
      return changed;
    },
  );
  deps.signals.raise('webhook_delivery');
  return endpointOf(row, dataKey);
}

/** @throws Fault `not_found`, `outcome_unknown`, `service_unavailable` */
export async function removeEndpoint(deps: Deps, { organization }: Principal, id: string): Promise<void> {
  await writeForMerchant(deps, TRANSACTION, organization.id, async (tx): Promise<true | ApiError> => {
    const found = await lockQueue(tx, organization.id, id);
    if (!found || !(await deleteEndpoint(tx, organization.id, id))) return new ApiError('not_found');
    await pauseQueues(tx, [{ organizationId: organization.id, id }]);
    return true;
  });
}

/** Both sign for a day. @throws Fault `not_found`, `outcome_unknown`, `service_unavailable` */
export async function rotateEndpointSecret(
  deps: Deps,
  { organization, secrets }: Principal,
  id: string,
): Promise<EndpointWithSecret> {
  const secret = freshWebhookSecret();
  const sealed = sealPart(secrets.dataKey, 'secret', secret, organization.id, id);
  const row = await writeForMerchant(
    deps,
    TRANSACTION,
    organization.id,
    async (tx): Promise<EndpointRow | ApiError> =>
      (await rotateSecret(tx, organization.id, id, sealed, ROTATION_SECONDS)) ?? new ApiError('not_found'),
  );
  return { endpoint: endpointOf(row, secrets.dataKey), secret: printWebhookSecret(secret) };
}

function sealHeader(
  { dataKey }: OrganizationSecrets,
  header: StaticHeader | null,
  organizationId: string,
  id: string,
): Buffer | null {
  return header === null
    ? null
    : sealPart(dataKey, 'static_header', JSON.stringify(header), organizationId, id);
}
