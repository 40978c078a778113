import { insertAnomalies, type NewAnomaly } from '../../anomalies/anomaly.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { type LinkPart, linkParts } from '../../payins/link-part.store.ts';
import { expireLinks } from '../../payment-links/payment-link-outcome.store.ts';
import { linkEvents } from './link-events.ts';

const BATCH_SIZE = 1000;

/**
 * Expires due links and records their events. A link with an open attempt is skipped until the attempt ends, so that a
 * payment made in time is never lost and each link emits exactly one final event. What the attempts of an expired link
 * received stays in suspense, with an anomaly for each part: the merchant accepts it, or an operator returns it.
 * @returns the number of expired links; call again immediately until it is 0
 */
export async function expireDueLinks(deps: SystemDeps, keys: DataKeys): Promise<number> {
  return deps.system.transaction('expire links', async (tx) => {
    const expired = await expireLinks(tx, BATCH_SIZE);
    if (expired.length === 0) return 0;
    const secrets = await keys.loadInTransaction(tx, new Set(expired.map((row) => row.organization_id)));
    const getDataKey = (organizationId: string) => secrets(organizationId).dataKey;
    await recordFinalEvents(tx, linkEvents(deps, expired, getDataKey), getDataKey);
    const partlyPaid = expired.filter((row) => row.paid_in_cents > 0n);
    const parts = await linkParts(
      tx,
      partlyPaid.map(({ organization_id: organizationId, id }) => ({ organizationId, id })),
    );
    await insertAnomalies(
      tx,
      parts.map((part) => toAnomaly(deps, part)),
    );
    return expired.length;
  });
}

function toAnomaly(deps: SystemDeps, part: LinkPart): NewAnomaly {
  const { organizationId, payinId, rail, executionId, amount } = part;
  return {
    organizationId,
    id: uuidv7(deps.clock.now(), deps.cell),
    payinId,
    payoutId: null,
    rail,
    kind: 'underpaid',
    reference: part.brebKey ?? resourceReference(payinId, part.organizationNumber),
    executionId,
    amount,
    once: `underpaid/${rail}/${executionId}/money`,
  };
}
