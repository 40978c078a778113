import type { SystemDeps } from '../../deps.ts';
import { closeSpan, lockSubtotals } from '../../ledger/subtotal.store.ts';

/**
 * Closes the past of the shared accounts, a span at a time, so that their sums read only what came since. Harmless to run at any time and
 * by several workers at once.
 * @returns how many subtotals it made; call again while there are any
 */
export function rollSubtotals(deps: Pick<SystemDeps, 'system'>): Promise<number> {
  return deps.system.transaction('roll subtotals', async (tx) => {
    await lockSubtotals(tx);
    return closeSpan(tx);
  });
}
