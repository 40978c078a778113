import type { SystemDeps } from '../../deps.ts';
import { closeSpan, lockSubtotals } from '../../ledger/subtotal.store.ts';

/**
 * Writes subtotals of the shared accounts, one time span at a time, so that their sums read only the transfers since.
 * Safe to run at any time and by several workers at once.
 * @returns the number of subtotals written; call again until it is zero
 */
export function rollSubtotals(deps: Pick<SystemDeps, 'system'>): Promise<number> {
  return deps.system.transaction('roll subtotals', async (tx) => {
    await lockSubtotals(tx);
    return closeSpan(tx);
  });
}
