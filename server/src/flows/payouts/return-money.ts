import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { numberOfOrganization } from '../../organizations/organization.store.ts';
import { OPERATOR_ORGANIZATION_ID, type OrganizationSecrets } from '../../organizations/organization.ts';
import { insertPayouts } from '../../payouts/payout.store.ts';
import { holderMark, receiverIndex, sealReceiver } from '../../payouts/receiver.seal.ts';
import { maskName, matchName } from '../../payouts/receiver-view.ts';
import type { RailAnswer, Resolution } from '../../rails/contract.ts';

interface Receiver {
  readonly key: string;
  readonly resolution: Resolution;
  readonly secrets: OrganizationSecrets;
  /** Masked, for the operator's eyes. */
  readonly name: string;
  /** Whether the holder is whom the operator named; null when nobody was named. */
  readonly isNamed: boolean | null;
}

/** Whom money would be returned to. The directory is asked first: a wrong letter in a key is another person. */
export async function findReceiver(
  deps: SystemDeps,
  key: string,
  expectedName: string | null,
): Promise<Receiver | Exclude<RailAnswer<Resolution>, { kind: 'yes' }>> {
  const answer = await deps.payoutRail.resolve(key);
  if (answer.kind !== 'yes') return answer;
  const secrets = await new DataKeys(deps.system, deps.masterKeys).of(new Set([OPERATOR_ORGANIZATION_ID]));
  const { value: resolution } = answer;
  return {
    key,
    resolution,
    secrets: secrets(OPERATOR_ORGANIZATION_ID),
    name: `${maskName(resolution.name)}, ${resolution.bankName}`,
    isNamed: expectedName === null ? null : matchName(expectedName, resolution.name) !== 'NONE',
  };
}

/** A payout of the house that gives the money of an anomaly back, on the path of every payout. */
export function returnTo(
  deps: SystemDeps,
  { key, resolution, secrets }: Receiver,
): (tx: Tx, anomaly: Anomaly) => Promise<string> {
  return async (tx, anomaly) => {
    const id = uuidv7(deps.clock.now(), deps.cell);
    await insertPayouts(tx, [
      {
        id,
        organizationId: OPERATOR_ORGANIZATION_ID,
        amount: cents(anomaly.amount ?? 0n),
        reference: `return of ${anomaly.id}`,
        sealedCustomer: null,
        sealedReceiver: sealReceiver(secrets.dataKey, key, OPERATOR_ORGANIZATION_ID, id),
        receiverIndex: receiverIndex(secrets.hashKey, key),
        resolved: {
          lookupId: null,
          resolutionId: resolution.resolutionId,
          resolvedAt: new Date(deps.clock.time()),
          holder: holderMark(secrets.hashKey, resolution),
        },
        endToEndId: resourceReference(id, await numberOfOrganization(tx, OPERATOR_ORGANIZATION_ID)),
        anomaly: { id: anomaly.id, organizationId: anomaly.organizationId },
        covered: true,
      },
    ]);
    return id;
  };
}
