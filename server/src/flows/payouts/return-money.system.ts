import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { operatorActor } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { getOrganizationNumber } from '../../organizations/organization.store.ts';
import { OPERATOR_ORGANIZATION_ID, type OrganizationSecrets } from '../../organizations/organization.ts';
import { insertPayouts } from '../../payouts/payout.store.ts';
import { holderIndex } from '../../payouts/receiver.encryption.ts';
import { maskName, matchName } from '../../payouts/receiver-view.ts';
import type { RailAnswer, Resolution } from '../../rails/contract.ts';

interface Receiver {
  readonly brebKey: string;
  readonly resolution: Resolution;
  readonly secrets: OrganizationSecrets;
  /** Masked, for display to the operator. */
  readonly name: string;
  /** Whether the holder matches the name that the operator gave; null without a name. */
  readonly isNamed: boolean | null;
}

/** Looks up the receiver of a return before money moves: a typo in a Bre-B key is another person's key. */
export async function findReceiver(
  deps: SystemDeps,
  brebKey: string,
  expectedName: string | null,
): Promise<Receiver | Exclude<RailAnswer<Resolution>, { kind: 'yes' }>> {
  const answer = await deps.payoutRail.resolve(brebKey);
  if (answer.kind !== 'yes') return answer;
  const secrets = await new DataKeys(deps.system, deps.masterKeys).load(new Set([OPERATOR_ORGANIZATION_ID]));
  const { value: resolution } = answer;
  return {
    brebKey,
    resolution,
    secrets: secrets(OPERATOR_ORGANIZATION_ID),
    name: `${maskName(resolution.name)}, ${resolution.bankName}`,
    isNamed: expectedName === null ? null : matchName(expectedName, resolution.name) !== 'NONE',
  };
}

/** Creates a payout of the operator organization that returns the money of an anomaly. It is sent like any other payout. */
export function returnTo(
  deps: SystemDeps,
  { brebKey, resolution, secrets }: Receiver,
  operator: string,
): (tx: Tx, anomaly: Anomaly) => Promise<string> {
  return async (tx, anomaly) => {
    const id = uuidv7(deps.clock.now(), deps.cell);
    await insertPayouts(tx, [
      {
        id,
        organizationId: OPERATOR_ORGANIZATION_ID,
        amount: cents(anomaly.amount ?? 0n),
        reference: `return of ${anomaly.id}`,
        customer: null,
        metadata: null,
        traceContext: null,
        brebKey,
        secrets,
        resolved: {
          lookupId: null,
          resolutionId: resolution.resolutionId,
          resolvedAt: new Date(deps.clock.time()),
          holder: holderIndex(secrets.hashKey, resolution),
        },
        endToEndId: resourceReference(id, await getOrganizationNumber(tx, OPERATOR_ORGANIZATION_ID)),
        anomaly: { id: anomaly.id, organizationId: anomaly.organizationId },
        createdBy: operatorActor(operator),
        refusal: null,
        holdSeconds: null,
      },
    ]);
    return id;
  };
}
