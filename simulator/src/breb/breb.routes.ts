import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { listPayments } from '../list-payments.ts';
import { railCall } from '../rail-call.ts';
import { requireToken } from './access-token.ts';
import { closeKeys } from './close-keys.route.ts';
import { listOrders } from './list-orders.route.ts';
import { queryKeys } from './query-keys.route.ts';
import { queryOrders } from './query-orders.route.ts';
import { receiveOrders } from './receive-orders.route.ts';
import { registerKeys } from './register-keys.route.ts';
import { resolveKey } from './resolve-key.route.ts';
import { issueToken } from './token.route.ts';

export function brebRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/breb/oauth/token', railCall(deps, issueToken));
  app.post('/breb/v1/keys/register', railCall(deps, registerKeys));
  app.post('/breb/v1/keys/close', railCall(deps, closeKeys));
  app.post('/breb/v1/keys/query', railCall(deps, queryKeys));
  app.post('/breb/v1/directory/resolve', railCall(deps, resolveKey));
  app.post('/breb/v1/orders', railCall(deps, receiveOrders));
  app.post('/breb/v1/orders/query', railCall(deps, queryOrders));
  app.post('/breb/v1/orders/list', railCall(deps, listOrders));
  app.post('/breb/v1/payments/list', railCall(deps, listPayments('BRE_B', 'payment-list', requireToken)));
}
