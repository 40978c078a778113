import type { FastifyInstance } from 'fastify';
import { keyStatus } from '../breb/key-status.ts';
import type { Deps } from '../deps.ts';
import { bankUrl } from '../pse/transaction.store.ts';

/** Read-only views for tests and people. Each waits until the journal is on disk: a crash cannot undo what it shows. */
export function inspectRoutes(app: FastifyInstance, deps: Deps, publicUrl: () => string): void {
  const { keys, orders, transactions, executions, notices, counts } = deps.state;

  app.get<{ Params: { key: string } }>('/control/keys/:key', async (request, reply) => {
    await deps.journal.synced();
    const { key } = request.params;
    const found = keys.byKey.get(key);
    if (found === undefined) return reply.code(404).send({ code: 'NOT_FOUND', message: `no key ${key}` });
    const { registration, closedAt, ended, payments } = found;
    const { internalId, amount, expiresAt, payer, registeredAt } = registration ?? {};
    return {
      key,
      status: keyStatus(found),
      code: ended?.code ?? null,
      internalId: internalId ?? null,
      amount: amount ?? null,
      currency: registration === null ? null : 'COP',
      expiresAt: expiresAt ?? null,
      payer: payer ?? null,
      registeredAt: registeredAt ?? null,
      closedAt,
      payments,
    };
  });

  app.get<{ Params: { reference: string } }>('/control/transactions/:reference', async (request, reply) => {
    await deps.journal.synced();
    const { reference } = request.params;
    const found = transactions.byReference.get(reference);
    if (found === undefined) {
      return reply.code(404).send({ code: 'NOT_FOUND', message: `no transaction ${reference}` });
    }
    return { ...found, bankUrl: bankUrl(publicUrl(), found) };
  });

  app.get('/control/payments', async () => {
    await deps.journal.synced();
    return executions.all;
  });

  app.get('/control/traceparents', () => Promise.resolve(deps.state.traceparents));

  app.get('/control/stats', async () => {
    await deps.journal.synced();
    const { open, closed, ended, tombstones } = keys;
    const { queued, acknowledged, attempts, waiting } = notices;
    return {
      keys: { registered: open, closed, ended, closedUnregistered: tombstones },
      transactions: transactions.byReference.size,
      payments: { count: executions.all.length, cents: String(executions.cents) },
      orders: orders.counts,
      executions: { count: orders.executions.length, cents: String(orders.executedCents) },
      notices: { queued, acknowledged, attempts, waiting: waiting.size },
      ...counts,
      journal: deps.journal.counts,
    };
  });
}
