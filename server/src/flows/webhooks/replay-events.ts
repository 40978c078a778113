import type { Deps } from '../../deps.ts';
import { findEvent } from '../../events/event-list.store.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Principal } from '../../organizations/organization.ts';
import {
  BEFORE_FIRST_EVENT,
  type ReplayResult,
  type ReplaySelection,
  replayBatch,
} from '../../webhooks/replay.store.ts';
import { recordMerchantAction } from '../shared/record-merchant-action.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

/** Time limit of one request; the client requests the rest with `nextAfter`. */
const TIME_LIMIT_MS = 3000;

/**
 * Delivers one event again to all enabled, subscribed endpoints.
 * @throws ApiError `not_found`, `outcome_unknown`, `service_unavailable`
 */
export async function replayEvent(deps: Deps, principal: Principal, eventId: string): Promise<ReplayResult> {
  const { organization } = principal;
  const replayed = await writeForMerchant(
    deps,
    'replay events',
    organization.id,
    async (tx): Promise<ReplayResult | ApiError> => {
      if (!(await findEvent(tx, organization.id, eventId))) return new ApiError('not_found');
      await recordMerchantAction(deps, tx, principal, 'event.replay', eventId);
      return replayBatch(tx, organization.id, { kind: 'one', eventId }, BEFORE_FIRST_EVENT);
    },
  );
  deps.signals.raise('webhook_delivery');
  return replayed;
}

/**
 * Delivers many events again in batches, one transaction each: a large replay does not block other replays or deliveries
 * in progress.
 * @throws ApiError `outcome_unknown`, `service_unavailable`: it is unknown whether events were replayed
 */
export async function replayEvents(
  deps: Deps,
  principal: Principal,
  selection: ReplaySelection,
  after: string | null,
): Promise<ReplayResult> {
  const { organization } = principal;
  const deadline = monotonicMs() + TIME_LIMIT_MS;
  let done: ReplayResult = { events: 0, deliveries: 0, nextAfter: after ?? BEFORE_FIRST_EVENT };
  do {
    const from = done.nextAfter ?? BEFORE_FIRST_EVENT;
    const next = await writeForMerchant(deps, 'replay events', organization.id, async (tx) => {
      // One action per request: the first batch commits it.
      if (done.events === 0) await recordMerchantAction(deps, tx, principal, 'events.replay', null);
      return replayBatch(tx, organization.id, selection, from);
    }).catch((error: unknown) => {
      // Earlier batches are committed, so the client can continue from the last one.
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
  } while (done.nextAfter !== null && monotonicMs() < deadline);
  return done;
}
