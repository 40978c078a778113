import type { SystemDeps } from '../../deps.ts';
import { recordSuspense } from '../../ledger/ledger-status.store.ts';
import { sharedBalance } from '../../ledger/subtotal.store.ts';

/**
 * Keeps the balance of suspense for the metrics of every worker. Computing it reads the transfers of the last one or two
 * hours: once a minute in one worker, not at every scrape in all of them.
 */
export async function keepSuspense({ system, results }: SystemDeps): Promise<void> {
  const cents = await system.transaction('read', (tx) => sharedBalance(tx, 'suspense'));
  await recordSuspense(results, cents);
}
