import { z } from 'zod';
import type { RailCall } from '../rail-call.ts';
import { BULK_LIMIT } from '../wire.ts';
import { refuseWithoutToken } from './access-token.ts';
import type { Order } from './order.store.ts';

const idList = z.array(z.string().min(1).max(40)).min(1).max(BULK_LIMIT).optional();

const queryBody = z
  .object({ endToEndIds: idList, internalIds: idList })
  .refine(({ endToEndIds, internalIds }) => (endToEndIds === undefined) !== (internalIds === undefined), {
    message: 'exactly one of endToEndIds and internalIds',
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

/** An order that was refused at the door is NOT_FOUND: nothing was made of it. */
export const queryOrders: RailCall<z.infer<typeof queryBody>> = {
  rail: 'BRE_B',
  operation: 'order-query',
  schema: queryBody,
  refuse: refuseWithoutToken,
  answer: ({ state }, { endToEndIds = [], internalIds = [] }, at) => {
    const { byEndToEndId, byInternalId } = state.orders;
    const results = [
      ...endToEndIds.map((endToEndId) => standing(byEndToEndId.get(endToEndId), { endToEndId })),
      ...internalIds.map((internalId) => standing(byInternalId.get(internalId), { internalId })),
    ];
    const told = results.map(
      ({ endToEndId, internalId, status }) => [endToEndId, internalId, status] as const,
    );
    return { body: { results }, entry: { at, kind: 'breb.order-query', results: told } };
  },
};

type Asked = { readonly endToEndId: string } | { readonly internalId: string };

/** `at` is when it came into the status that is told. */
function standing(order: Order | undefined, asked: Asked) {
  if (order === undefined) return { ...NOT_FOUND, ...asked };
  const { endToEndId, internalId, status, code, executionId, amount, receivedAt, endedAt } = order;
  return { endToEndId, internalId, status, code, executionId, amount, at: endedAt ?? receivedAt };
}
