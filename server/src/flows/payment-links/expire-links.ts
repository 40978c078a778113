import type { SystemDeps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { expireLinks } from '../../payment-links/payment-link-outcome.store.ts';
import { linkEvents } from './link-events.ts';

const AT_ONCE = 1000;

/**
 * Ends links whose time is over, with their events. One that is being paid is left to its attempt: a payment made in time is
 * never lost, and a link tells of one end.
 * @returns how many ended; call again at once while there are any
 */
export async function expireDueLinks(deps: SystemDeps, keys: DataKeys): Promise<number> {
  return deps.system.transaction('expire links', async (tx) => {
    const expired = await expireLinks(tx, AT_ONCE);
    if (expired.length === 0) return 0;
    const secrets = await keys.within(tx, new Set(expired.map((row) => row.organization_id)));
    await recordFinalEvents(
      tx,
      linkEvents(deps, expired),
      (organizationId) => secrets(organizationId).dataKey,
    );
    return expired.length;
  });
}
