import type { SystemDeps } from '../../deps.ts';
import { waitingKeys } from '../../payins/breb-key.store.ts';

/** Keys that the network does not know yet cannot be paid: their number and the age of the oldest are metrics. */
export function watchWaitingKeys(deps: SystemDeps): () => Promise<void> {
  let seen = { count: 0, oldestSeconds: 0 };
  deps.metrics.gauge('caudal_breb_keys_waiting', 'Keys not yet registered at the network.', () => seen.count);
  deps.metrics.gauge(
    'caudal_breb_keys_waiting_oldest_seconds',
    'Age of the oldest key not yet registered.',
    () => seen.oldestSeconds,
  );
  return async () => {
    seen = await waitingKeys(deps.system);
  };
}
