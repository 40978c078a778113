import { recentActions } from '../audit/operator-action.store.ts';
import type { SystemDeps } from '../deps.ts';

/** What operators did, newest first. */
export function readActions(deps: SystemDeps, most: number): ReturnType<typeof recentActions> {
  return deps.system.transaction('read', (tx) => recentActions(tx, most));
}
