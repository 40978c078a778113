import type { SystemDeps } from '../deps.ts';
import { dispatchEvents } from '../webhooks/delivery.store.ts';

const AT_ONCE = 500;

/**
 * Gives events that were recorded to the lines of the endpoints that want them. Apart from the transaction that recorded
 * them: whoever moves money waits for no endpoint's row.
 * @returns how many were taken; call again at once while there are any
 */
export async function dispatchNewEvents(deps: SystemDeps): Promise<number> {
  const { events } = await deps.system.transaction('dispatch events', (tx) => dispatchEvents(tx, AT_ONCE));
  return events;
}
