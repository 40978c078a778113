import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { listPayments } from '../list-payments.ts';
import { railCall } from '../rail-call.ts';
import { createTransaction } from './create-transaction.route.ts';
import { requireEntityCredentials } from './entity-access.ts';
import { listBanks } from './list-banks.route.ts';
import { queryTransactions } from './query-transactions.route.ts';

export function pseRoutes(app: FastifyInstance, deps: Deps, publicUrl: () => string): void {
  app.get('/pse/v1/banks', railCall(deps, listBanks));
  app.post('/pse/v1/transactions', railCall(deps, createTransaction(publicUrl)));
  app.post('/pse/v1/transactions/query', railCall(deps, queryTransactions(publicUrl)));
  app.post(
    '/pse/v1/payments/list',
    railCall(deps, listPayments('PSE', 'transaction-list', requireEntityCredentials)),
  );
}
