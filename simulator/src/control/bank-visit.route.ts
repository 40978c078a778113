import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { endTransaction } from '../pse/end-transaction.ts';
import { abandonTransaction, leaveTransaction } from '../pse/leave-transaction.ts';
import type { Transaction } from '../pse/transaction.store.ts';
import { readBody } from '../request-body.ts';

const DAY_MS = 24 * 60 * 60_000;

const reference = z.string().min(1).max(32);

const endBody = z.strictObject({
  reference,
  state: z.enum(['OK', 'NOT_AUTHORIZED', 'FAILED']),
  reason: z.string().min(1).max(20).optional(),
  anyway: z.boolean().default(false),
});

const leaveBody = z.strictObject({ reference, approvesInMs: z.int().min(0).max(DAY_MS).optional() });

const abandonBody = z.strictObject({ reference });

/** What a payer does at the bank page of a PSE transaction. */
export function bankVisitRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/control/transactions/end', async (request, reply) => {
    const { reference, ...decision } = readBody(endBody, request);
    const found = deps.state.transactions.byReference.get(reference);
    if (found === undefined) return notFound(reply, reference);
    return (await endTransaction(deps, found, decision)) ? view(found) : decided(reply, found);
  });

  // Without `approvesInMs` nothing is decided: end it later with /end, or with /abandon as PSE would by timeout.
  app.post('/control/transactions/leave', async (request, reply) => {
    const { reference, approvesInMs } = readBody(leaveBody, request);
    const found = deps.state.transactions.byReference.get(reference);
    if (found === undefined) return notFound(reply, reference);
    if (found.state !== 'PENDING') return decided(reply, found);
    await leaveTransaction(deps, found, approvesInMs);
    return { ...view(found), openedAt: found.openedAt, approvesAt: found.approvesAt };
  });

  app.post('/control/transactions/abandon', async (request, reply) => {
    const { reference } = readBody(abandonBody, request);
    const found = deps.state.transactions.byReference.get(reference);
    if (found === undefined) return notFound(reply, reference);
    return (await abandonTransaction(deps, found)) ? view(found) : decided(reply, found);
  });
}

function view({ reference, state, reason }: Transaction) {
  return { reference, state, reason };
}

function notFound(reply: FastifyReply, reference: string): FastifyReply {
  return reply.code(404).send({ code: 'NOT_FOUND', message: `no transaction ${reference}` });
}

function decided(reply: FastifyReply, { state }: Transaction): FastifyReply {
  return reply.code(409).send({ code: 'CANNOT_END', message: `the transaction is already ${state}` });
}
