import { isDeepStrictEqual } from 'node:util';
import type { State } from '../state.ts';
import { isFresh } from './directory.store.ts';
import { COLLECTOR, type Holder } from './directory.ts';
import { findHolder } from './listing.ts';
import type { Order } from './order.store.ts';
import { TEST_KEYS } from './test-keys.ts';

type Verdict = { readonly outcome: 'SETTLED' } | { readonly outcome: 'REJECTED'; readonly code: string };

/** How an order ends when its time has come, by the directory of that moment. Null: no end comes by itself. */
export function judgeOrder(state: State, order: Order): Verdict | null {
  const holder = findHolder(state, order.key);
  if (typeof holder === 'string') return { outcome: 'REJECTED', code: holder };
  if (!isMeantFor(state, order, holder)) return { outcome: 'REJECTED', code: '4008' };
  // Orders are paid from the collecting account, and the network carries nothing from an account to itself.
  if (holder === COLLECTOR) return { outcome: 'REJECTED', code: '4016' };
  const test = TEST_KEYS.get(order.key);
  if (test?.neverEnds === true) return null;
  return test?.rejects === undefined ? { outcome: 'SETTLED' } : { outcome: 'REJECTED', code: test.rejects };
}

/** An order without a resolution asks for no check; one whose resolution is unknown fails it. */
function isMeantFor({ directory }: State, { resolutionId, key, receivedAt }: Order, holder: Holder): boolean {
  if (resolutionId === null) return true;
  const promised = directory.resolutions.get(resolutionId);
  if (promised === undefined || promised.key !== key || !isFresh(promised, receivedAt)) return false;
  return isDeepStrictEqual(promised.holder, holder);
}
