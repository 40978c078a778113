import { z } from 'zod';
import type { RailCall } from '../rail-call.ts';
import { BULK_LIMIT } from '../wire.ts';
import { requireToken } from './access-token.ts';
import type { Order } from './order.store.ts';

const idList = z.array(z.string().min(1).max(40)).min(1).max(BULK_LIMIT).optional();

const queryBody = z
  .object({ endToEndIds: idList, internalIds: idList })
  .refine(({ endToEndIds, internalIds }) => (endToEndIds === undefined) !== (internalIds === undefined), {
    message: 'send exactly one of endToEndIds and internalIds',
  });

const NOT_FOUND = {
  endToEndId: null,
  internalId: null,
  status: 'NOT_FOUND',
  code: null,
  executionId: null,
  amount: null,
  at: null,
} as const;

/** An order rejected at intake is NOT_FOUND: it was not stored. */
export const queryOrders: RailCall<z.infer<typeof queryBody>> = {
  rail: 'BRE_B',
  operation: 'order-query',
  schema: queryBody,
  authenticate: requireToken,
  answer: ({ state }, { endToEndIds = [], internalIds = [] }, at) => {
    const { byEndToEndId, byInternalId } = state.orders;
    const results = [
      ...endToEndIds.map((endToEndId) => toOrderStatus(byEndToEndId.get(endToEndId), { endToEndId })),
      ...internalIds.map((internalId) => toOrderStatus(byInternalId.get(internalId), { internalId })),
    ];
    const journaled = results.map(
      ({ endToEndId, internalId, status }) => [endToEndId, internalId, status] as const,
    );
    return { body: { results }, entry: { at, kind: 'breb.order-query', results: journaled } };
  },
};

type QueriedId = { readonly endToEndId: string } | { readonly internalId: string };

/** `at` is the time the order entered its current status. */
function toOrderStatus(order: Order | undefined, queriedId: QueriedId) {
  if (order === undefined) return { ...NOT_FOUND, ...queriedId };
  const { endToEndId, internalId, status, code, executionId, amount, receivedAt, endedAt } = order;
  return { endToEndId, internalId, status, code, executionId, amount, at: endedAt ?? receivedAt };
}
