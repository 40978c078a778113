import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { recordEvents } from '../../events/event.store.ts';
import type { NewEvent } from '../../events/event.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { keyNetworkEventData } from '../../organizations/key-network.event.ts';
import {
  insertNetworks,
  type LockedKey,
  lockKeys,
  type NetworkUse,
  type NewNetwork,
  touchNetworks,
} from '../../organizations/key-network.store.ts';

/** Events per API key in 24 hours: a thief who changes networks must not flood the merchant. */
const MAX_EVENTS = 20;

interface NewUse extends NewNetwork {
  readonly key: LockedKey;
  /** Null for the first allowed network of the key, and beyond the limit of events. */
  readonly event: NewEvent | null;
}

/**
 * Records the networks that API keys were used from. A network that is new for its key has an event, unless it is the first
 * one that was allowed, or the key had all its events of 24 hours: then it is only stored, and `keys activity` shows it. A
 * rejected request is never silent, because it means that the allow-list is wrong or the secret is stolen. Two processes
 * that see the same network record one event: the keys are locked, and the primary key decides.
 */
export async function recordKeyNetworks(
  deps: SystemDeps,
  dataKeys: DataKeys,
  uses: readonly NetworkUse[],
): Promise<void> {
  const events = await deps.system.transaction('record key networks', async (tx) => {
    const fresh = await findNewUses(deps, tx, uses);
    if (fresh.length === 0) return 0;
    await insertNetworks(
      tx,
      fresh.map(({ key, keyId, network, allowed, event }) => ({
        organizationId: key.organizationId,
        keyId,
        network,
        allowed,
        eventId: event?.id ?? null,
      })),
    );
    const emitted = fresh.flatMap(({ event }) => event ?? []);
    const secrets = await dataKeys.loadInTransaction(
      tx,
      new Set(emitted.map(({ organizationId }) => organizationId)),
    );
    await recordEvents(tx, emitted, (organizationId) => secrets(organizationId).dataKey);
    return emitted.length;
  });
  if (events > 0) deps.signals.raise('event_dispatch');
}

async function findNewUses(deps: SystemDeps, tx: Tx, uses: readonly NetworkUse[]): Promise<NewUse[]> {
  const locked = await lockKeys(tx, [...new Set(uses.map(({ keyId }) => keyId))]);
  const keys = new Map(locked.map((key) => [key.id, key]));
  const known = new Set<string>();
  const emitted = new Map<string, number>();
  return (await touchNetworks(tx, uses)).flatMap((use): NewUse[] => {
    const key = keys.get(use.keyId);
    if (!key) return [];
    const isFirst = !use.rejected && !use.keyIsKnown && !known.has(use.keyId);
    if (use.allowed) known.add(use.keyId);
    const events = emitted.get(use.keyId) ?? use.recentEvents;
    if (isFirst || events >= MAX_EVENTS) return [{ ...use, key, event: null }];
    emitted.set(use.keyId, events + 1);
    return [{ ...use, key, event: toEvent(deps, key, use) }];
  });
}

function toEvent({ clock, cell }: SystemDeps, key: LockedKey, use: NewNetwork): NewEvent {
  const createdAt = new Date(Math.floor(clock.time()));
  return {
    id: uuidv7(clock.now(), cell),
    organizationId: key.organizationId,
    event: 'api_key.used_from_new_network',
    resource: 'api_key',
    resourceId: null,
    createdAt,
    data: keyNetworkEventData(key, use, createdAt),
    traceContext: null,
  };
}
