import { isDeepStrictEqual } from 'node:util';
import type { State } from '../state.ts';
import { isFresh } from './directory.store.ts';
import { COLLECTOR, type Holder } from './directory.ts';
import { findHolder } from './listing.ts';
import type { Order } from './order.store.ts';
import { TEST_KEYS } from './test-keys.ts';

type OrderDecision =
  | { readonly outcome: 'SETTLED' }
  | { readonly outcome: 'REJECTED'; readonly code: string };

/** Decides a due order by the current directory. Null: the order stays PROCESSING until the control API ends it. */
export function decideOrder(state: State, order: Order): OrderDecision | null {
  const holder = findHolder(state, order.key);
  if (typeof holder === 'string') return { outcome: 'REJECTED', code: holder };
  if (!matchesResolution(state, order, holder)) return { outcome: 'REJECTED', code: '4008' };
  // Orders are paid from the collecting account, and the network rejects transfers from an account to itself.
  if (holder === COLLECTOR) return { outcome: 'REJECTED', code: '4016' };
  const test = TEST_KEYS.get(order.key);
  if (test?.staysProcessing === true) return null;
  return test?.rejects === undefined ? { outcome: 'SETTLED' } : { outcome: 'REJECTED', code: test.rejects };
}

/** An order without a resolution skips the check; an unknown resolution fails it. */
function matchesResolution(
  { directory }: State,
  { resolutionId, key, receivedAt }: Order,
  holder: Holder,
): boolean {
  if (resolutionId === null) return true;
  const resolution = directory.resolutions.get(resolutionId);
  if (resolution === undefined || resolution.key !== key || !isFresh(resolution, receivedAt)) return false;
  return isDeepStrictEqual(resolution.holder, holder);
}
