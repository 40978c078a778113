import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { endOrder } from '../breb/end-order.ts';
import type { Deps } from '../deps.ts';
import { readBody } from '../request-body.ts';

const endBody = z
  .strictObject({
    endToEndId: z.string().min(1).max(40),
    outcome: z.enum(['SETTLED', 'REJECTED']),
    code: z.string().min(1).max(20).optional(),
    anyway: z.boolean().default(false),
  })
  .refine(({ outcome, code }) => outcome === 'REJECTED' || code === undefined, {
    path: ['code'],
    message: 'is allowed only for REJECTED',
  });

/** Ends orders and shows orders and executions. */
export function orderRoutes(app: FastifyInstance, deps: Deps): void {
  const { orders } = deps.state;
  const unknown = (id: string) => ({ code: 'NOT_FOUND', message: `no order ${id}` });

  app.post('/control/orders/end', async (request, reply) => {
    const { endToEndId, ...end } = readBody(endBody, request);
    const order = orders.byEndToEndId.get(endToEndId);
    if (order === undefined) return reply.code(404).send(unknown(endToEndId));
    if (!(await endOrder(deps, order, end))) {
      const message = `the order is already ${order.status}`;
      return reply.code(409).send({ code: 'CANNOT_END', message });
    }
    return order;
  });

  app.get<{ Params: { endToEndId: string } }>('/control/orders/:endToEndId', async (request, reply) => {
    await deps.journal.synced();
    const { endToEndId } = request.params;
    return orders.byEndToEndId.get(endToEndId) ?? reply.code(404).send(unknown(endToEndId));
  });

  app.get('/control/executions', async () => {
    await deps.journal.synced();
    return orders.executions;
  });
}
