import type { SystemDeps } from '../../deps.ts';
import { readKeyBacklog } from '../../payins/breb-key.store.ts';
import { readBeforeScrape } from '../operations/database-gauge.ts';

/** Exposes the number and age of unregistered keys as metrics: a key cannot be paid before it is registered. */
export function watchKeyBacklog(deps: SystemDeps): void {
  const backlog = readBeforeScrape(deps, () => readKeyBacklog(deps.system));
  deps.metrics.gauge(
    'caudal_breb_keys_waiting',
    'Keys not yet registered at the network.',
    () => backlog()?.count ?? null,
  );
  deps.metrics.gauge(
    'caudal_breb_keys_waiting_oldest_seconds',
    'Age of the oldest key not yet registered.',
    () => backlog()?.oldestSeconds ?? null,
  );
}
