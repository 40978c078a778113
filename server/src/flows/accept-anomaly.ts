import {
  type AnomalyOfPayin,
  acceptAnomaly as accept,
  lockAnomalyOfPayin,
} from '../anomalies/acceptance.store.ts';
import type { Anomaly } from '../anomalies/anomaly.ts';
import {
  claimIdempotencyKeys,
  type IdempotencyClaim,
  releaseIdempotencyKeys,
} from '../claims/idempotency.store.ts';
import type { Tx } from '../db/tx.ts';
import type { Deps } from '../deps.ts';
import { Fault } from '../kit/errors.ts';
import { uuidv7 } from '../kit/ids.ts';
import type { Principal } from '../organizations/organization.ts';
import { idempotencyClaim } from './creation-request.ts';
import { writeForMerchant } from './write-for-merchant.ts';

const OPERATION = 'payins.anomalies.accept';

export interface Accepted {
  readonly anomaly: Anomaly;
  readonly replayed: boolean;
}

/**
 * Records that a merchant accepts the money of an anomaly. A worker credits it afterwards (book-acceptances.ts), because
 * the merchants' role must not be able to move money out of suspense.
 * @throws Fault `not_found`, `anomaly_resolved`, `anomaly_without_money`, `idempotency_mismatch`, `outcome_unknown`,
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
  // The path is all that the request says, so it stands for the body: the same key on another anomaly is a mismatch.
  const hashes = idempotencyClaim(
    secrets,
    OPERATION,
    idempotencyKey === null ? null : { key: idempotencyKey, body: path },
  );
  const claim = hashes && {
    organizationId: organization.id,
    ...hashes,
    resourceId: uuidv7(deps.clock.now(), deps.cell),
  };
  const answer = await writeForMerchant(
    deps,
    'accept anomaly',
    organization.id,
    async (tx): Promise<Accepted | Fault> => {
      const repeated = claim && (await replay(tx, claim, anomaly));
      if (repeated) return repeated;
      const accepted = await accept(tx, anomaly, keyId);
      if (accepted) return { anomaly: accepted, replayed: false };
      if (claim) await releaseIdempotencyKeys(tx, [claim]);
      return refusal(await lockAnomalyOfPayin(tx, anomaly));
    },
  );
  deps.signals.raise('acceptance_booking');
  return answer;
}

/** @returns null for the first request with this key */
async function replay(
  tx: Tx,
  claim: IdempotencyClaim,
  path: AnomalyOfPayin,
): Promise<Accepted | Fault | null> {
  const [holder] = await claimIdempotencyKeys(tx, [claim]);
  if (!holder || holder.resourceId === claim.resourceId) return null;
  if (!holder.bodyHash.equals(claim.bodyHash)) return new Fault('idempotency_mismatch');
  const anomaly = await lockAnomalyOfPayin(tx, path);
  if (!anomaly) return new Fault('not_found');
  // As it was accepted: a repeat never shows a later state.
  return { anomaly: { ...anomaly, resolvedAt: null, resolution: null }, replayed: true };
}

function refusal(anomaly: Anomaly | null): Fault {
  if (!anomaly) return new Fault('not_found');
  return new Fault(
    anomaly.acceptedAt !== null || anomaly.resolvedAt !== null ? 'anomaly_resolved' : 'anomaly_without_money',
  );
}
