import type { Deps } from '../deps.ts';
import { findEvent } from '../events/event-list.store.ts';
import { Fault } from '../kit/errors.ts';
import type { Principal } from '../organizations/organization.ts';
import { type Replayed, type ReplayedEvents, replayEvents } from '../webhooks/delivery.store.ts';
import { writeForMerchant } from './write-for-merchant.ts';

/**
 * Delivers events again, to all enabled endpoints that want them.
 * @throws Fault `not_found` for one that is unknown, `outcome_unknown`, `service_unavailable`
 */
export async function replay(
  deps: Deps,
  { organization }: Principal,
  wanted: ReplayedEvents,
): Promise<Replayed> {
  return writeForMerchant(deps, 'replay events', organization.id, async (tx): Promise<Replayed | Fault> => {
    if (wanted.kind === 'one' && !(await findEvent(tx, organization.id, wanted.eventId)))
      return new Fault('not_found');
    return replayEvents(tx, organization.id, wanted);
  });
}
