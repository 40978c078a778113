import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EndOrder, endKey } from '../breb/end-key.ts';
import { keyStanding } from '../breb/key-status.ts';
import { payKey } from '../breb/pay-key.ts';
import type { Deps } from '../deps.ts';
import { endTransaction } from '../pse/end-transaction.ts';
import { readBody } from '../request-body.ts';
import { paidAmount } from '../wire.ts';

const MOST_PAYMENTS = 1000;

const payBody = z.strictObject({
  payments: z
    .array(
      z.strictObject({
        key: z.string().min(1).max(100),
        amount: paidAmount.optional(),
        anyway: z.boolean().default(false),
      }),
    )
    .min(1)
    .max(MOST_PAYMENTS),
});

const endKeyBody = z.strictObject({
  key: z.string().min(1).max(100),
  outcome: z.enum(['REJECTED', 'CANCELED']),
  code: z.string().min(1).max(20).optional(),
  anyway: z.boolean().default(false),
});

const endTransactionBody = z.strictObject({
  reference: z.string().min(1).max(32),
  state: z.enum(['OK', 'NOT_AUTHORIZED', 'FAILED']),
  reason: z.string().min(1).max(20).optional(),
  anyway: z.boolean().default(false),
});

/** The payer's side: what a person does in a bank's app. */
export function payerRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/control/keys/pay', async (request) => {
    const { payments } = readBody(payBody, request);
    return { results: await Promise.all(payments.map((order) => payKey(deps, order))) };
  });

  app.post('/control/keys/end', async (request, reply) => {
    const order: EndOrder = readBody(endKeyBody, request);
    if (!(await endKey(deps, order))) {
      const { status } = keyStanding(deps.state.keys, order.key);
      const message = `the key is ${status} or has been paid: nothing is left to end`;
      return reply.code(409).send({ code: 'CANNOT_END', message });
    }
    return keyStanding(deps.state.keys, order.key);
  });

  app.post('/control/transactions/end', async (request, reply) => {
    const { reference, ...decision } = readBody(endTransactionBody, request);
    const found = deps.state.transactions.byReference.get(reference);
    if (found === undefined) {
      return reply.code(404).send({ code: 'NOT_FOUND', message: `no transaction ${reference}` });
    }
    if (!(await endTransaction(deps, found, decision))) {
      return reply
        .code(409)
        .send({ code: 'CANNOT_END', message: `the transaction is ${found.state} already` });
    }
    const { state, reason } = found;
    return { reference, state, reason };
  });
}
