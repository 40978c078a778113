import type { SystemDeps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { expireLinks } from '../../payment-links/payment-link-outcome.store.ts';
import { linkEvents } from './link-events.ts';

const BATCH_SIZE = 1000;

/**
 * Expires due links and records their events. A link with an open attempt is skipped until the attempt ends, so that a
 * payment made in time is never lost and each link emits exactly one final event.
 * @returns the number of expired links; call again immediately until it is 0
 */
export async function expireDueLinks(deps: SystemDeps, keys: DataKeys): Promise<number> {
  return deps.system.transaction('expire links', async (tx) => {
    const expired = await expireLinks(tx, BATCH_SIZE);
    if (expired.length === 0) return 0;
    const secrets = await keys.loadInTransaction(tx, new Set(expired.map((row) => row.organization_id)));
    const getDataKey = (organizationId: string) => secrets(organizationId).dataKey;
    await recordFinalEvents(tx, linkEvents(deps, expired, getDataKey), getDataKey);
    return expired.length;
  });
}
