import { listActions } from '../../audit/operator-action.store.ts';
import type { ActionFilters, StoredAction } from '../../audit/operator-action.ts';
import type { SystemDeps } from '../../deps.ts';

/** Audit rows, newest first. */
export function readActions(
  deps: Pick<SystemDeps, 'system'>,
  filters: ActionFilters,
  limit: number,
): Promise<StoredAction[]> {
  return deps.system.transaction('read', (tx) => listActions(tx, filters, limit));
}
