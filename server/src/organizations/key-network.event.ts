import type { LockedKey, NewNetwork } from './key-network.store.ts';

/** The data of `api_key.used_from_new_network`. */
export function keyNetworkEventData({ id, name, organizationId }: LockedKey, use: NewNetwork, seenAt: Date) {
  return {
    apiKeyId: id,
    name,
    network: use.network,
    allowed: !use.rejected,
    seenAt: seenAt.toISOString(),
    organizationId,
  };
}
