import {
  type AnomalyOfPayin,
  acceptAnomaly as accept,
  lockAnomalyOfPayin,
} from '../../anomalies/acceptance.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import {
  type IdempotencyReservation,
  releaseIdempotencyKeys,
  reserveIdempotencyKeys,
} from '../../idempotency/idempotency.store.ts';
import { apiKeyActor } from '../../kit/actor.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Principal } from '../../organizations/organization.ts';
import { idempotencyReservation } from '../shared/creation-request.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

const OPERATION = 'payins.anomalies.accept';

export interface Accepted {
  readonly anomaly: Anomaly;
  readonly replayed: boolean;
}

/**
 * Records that a merchant accepts the money of an anomaly. A worker credits it afterwards (`post-acceptances.ts`), because
 * the merchants' database role must not be able to move money out of suspense.
 * @throws ApiError `not_found`, `anomaly_resolved`, `anomaly_without_money`, `idempotency_mismatch`, `outcome_unknown`,
 *   `service_unavailable`
 */
export async function acceptAnomaly(
  deps: Deps,
  principal: Principal,
  path: Pick<AnomalyOfPayin, 'payinId' | 'id'>,
  idempotencyKey: string | null,
): Promise<Accepted> {
  const { organization, secrets, keyId } = principal;
  const anomaly = { organizationId: organization.id, payinId: path.payinId, id: path.id };
  // The request has no body, so the path is hashed instead: the same idempotency key on another anomaly is a mismatch.
  const hashes = idempotencyReservation(
    secrets,
    OPERATION,
    idempotencyKey === null ? null : { key: idempotencyKey, body: path },
  );
  const reservation = hashes && {
    organizationId: organization.id,
    ...hashes,
    resourceId: uuidv7(deps.clock.now(), deps.cell),
  };
  const answer = await writeForMerchant(
    deps,
    'accept anomaly',
    organization.id,
    async (tx): Promise<Accepted | ApiError> => {
      const replayed = reservation && (await replay(tx, reservation, anomaly));
      if (replayed) return replayed;
      const accepted = await accept(tx, anomaly, apiKeyActor(keyId));
      if (accepted) return { anomaly: accepted, replayed: false };
      if (reservation) await releaseIdempotencyKeys(tx, [reservation]);
      return rejection(await lockAnomalyOfPayin(tx, anomaly));
    },
  );
  deps.signals.raise('acceptance_posting');
  return answer;
}

/** @returns null for the first request with this idempotency key */
async function replay(
  tx: Tx,
  reservation: IdempotencyReservation,
  path: AnomalyOfPayin,
): Promise<Accepted | ApiError | null> {
  const [holder] = await reserveIdempotencyKeys(tx, [reservation]);
  if (!holder || holder.resourceId === reservation.resourceId) return null;
  if (!holder.bodyHash.equals(reservation.bodyHash)) return new ApiError('idempotency_mismatch');
  const anomaly = await lockAnomalyOfPayin(tx, path);
  if (!anomaly) return new ApiError('not_found');
  // The state at the acceptance: a replay never shows a later state.
  return { anomaly: { ...anomaly, resolvedAt: null, resolution: null }, replayed: true };
}

function rejection(anomaly: Anomaly | null): ApiError {
  if (!anomaly) return new ApiError('not_found');
  return new ApiError(
    anomaly.acceptedAt !== null || anomaly.resolvedAt !== null ? 'anomaly_resolved' : 'anomaly_without_money',
  );
}
