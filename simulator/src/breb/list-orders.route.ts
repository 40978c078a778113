import { pageSince, type SinceBody, sinceBody } from '../page-since.ts';
import type { RailCall } from '../rail-call.ts';
import { requireToken } from './access-token.ts';
import type { Order } from './order.store.ts';

/**
 * Lists the orders received or ended since a time. Orders rejected at intake are not listed: they were not stored. The
 * receiver's key identifies payments of a client that has lost its own records.
 */
export const listOrders: RailCall<SinceBody> = {
  rail: 'BRE_B',
  operation: 'order-list',
  schema: sinceBody,
  authenticate: requireToken,
  answer: ({ state }, body, at) => {
    const page = pageSince(state.orders.byEndToEndId.values(), body, (order) => [
      order.receivedAt,
      order.endedAt,
    ]);
    const results = page.items.map(toListed);
    const entry = {
      at,
      kind: 'rail.list',
      rail: 'BRE_B',
      operation: 'order-list',
      since: body.since,
    } as const;
    return { body: { results, next: page.next }, entry: { ...entry, count: results.length } };
  },
};

function toListed({
  endToEndId,
  internalId,
  key,
  amount,
  status,
  code,
  executionId,
  receivedAt,
  endedAt,
}: Order) {
  return { endToEndId, internalId, key, amount, status, code, executionId, receivedAt, endedAt };
}
