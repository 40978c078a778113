import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EndKeyCommand, endKey } from '../breb/end-key.ts';
import { readKeyState } from '../breb/key-status.ts';
import { payKey } from '../breb/pay-key.ts';
import type { Deps } from '../deps.ts';
import { endTransaction } from '../pse/end-transaction.ts';
import { readBody } from '../request-body.ts';
import { paidAmount } from '../wire.ts';

const MAX_PAYMENTS = 1000;

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
    .max(MAX_PAYMENTS),
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

/** Payer actions: what a person does in a bank app or at the bank page. */
export function payerRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/control/keys/pay', async (request) => {
    const { payments } = readBody(payBody, request);
    return { results: await Promise.all(payments.map((command) => payKey(deps, command))) };
  });

  app.post('/control/keys/end', async (request, reply) => {
    const command: EndKeyCommand = readBody(endKeyBody, request);
    if (!(await endKey(deps, command))) {
      const { status } = readKeyState(deps.state.keys, command.key);
      const message = `the key is ${status} or already paid: there is no payment to end`;
      return reply.code(409).send({ code: 'CANNOT_END', message });
    }
    return readKeyState(deps.state.keys, command.key);
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
        .send({ code: 'CANNOT_END', message: `the transaction is already ${found.state}` });
    }
    const { state, reason } = found;
    return { reference, state, reason };
  });
}
