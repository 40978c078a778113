import type { LockedKey } from './key-network.store.ts';
import type { NotedUse } from './key-networks.ts';

/** The data of `api_key.used_from_new_network`. */
export function keyNetworkEventData({ id, name, organizationId }: LockedKey, use: NotedUse, seenAt: Date) {
  return {
    apiKeyId: id,
    name,
    network: use.network,
    allowed: use.allowed,
    seenAt: seenAt.toISOString(),
    organizationId,
  };
}
