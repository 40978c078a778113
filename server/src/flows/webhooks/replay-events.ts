import type { Deps } from '../../deps.ts';
import { findEvent } from '../../events/event-list.store.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Principal } from '../../organizations/organization.ts';
import { NO_EVENT, type Replayed, type ReplayedEvents, replaySome } from '../../webhooks/replay.store.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

/** Whoever asked waits no longer; what is left is asked for anew. */
const GO_ON_FOR_MS = 3000;

/**
 * Delivers one event again, to all enabled endpoints that want it.
 * @throws Fault `not_found`, `outcome_unknown`, `service_unavailable`
 */
export async function replayOne(deps: Deps, { organization }: Principal, eventId: string): Promise<Replayed> {
  const replayed = await writeForMerchant(
    deps,
    'replay events',
    organization.id,
    async (tx): Promise<Replayed | ApiError> => {
      if (!(await findEvent(tx, organization.id, eventId))) return new ApiError('not_found');
      return replaySome(tx, organization.id, { kind: 'one', eventId }, NO_EVENT);
    },
  );
  deps.signals.raise('webhook_delivery');
  return replayed;
}

/**
 * Delivers many events again, a few at a time, each few in a transaction of their own: a large replay holds up nobody
 * else's, nor those of its own merchant that are being sent.
 * @throws Fault `outcome_unknown`, `service_unavailable`: nothing is known to have been replayed
 */
export async function replayMany(
  deps: Deps,
  { organization }: Principal,
  wanted: ReplayedEvents,
  after: string | null,
): Promise<Replayed> {
  const until = monotonicMs() + GO_ON_FOR_MS;
  let done: Replayed = { events: 0, deliveries: 0, nextAfter: after ?? NO_EVENT };
  do {
    const from = done.nextAfter ?? NO_EVENT;
    const next = await writeForMerchant(deps, 'replay events', organization.id, (tx) =>
      replaySome(tx, organization.id, wanted, from),
    ).catch((error: unknown) => {
      // What was done before it stands, and can be gone on from.
      if (error instanceof ApiError && done.events > 0) return null;
      throw error;
    });
    if (next === null) break;
    deps.signals.raise('webhook_delivery');
    done = {
      events: done.events + next.events,
      deliveries: done.deliveries + next.deliveries,
      nextAfter: next.nextAfter,
    };
  } while (done.nextAfter !== null && monotonicMs() < until);
  return done;
}
