import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { bankVisitRoutes } from './bank-visit.route.ts';
import { directoryRoutes } from './directory.route.ts';
import { faultRoutes } from './faults.route.ts';
import { inspectRoutes } from './inspect.route.ts';
import { keyPayerRoutes } from './key-payer.route.ts';
import { noticeRoutes } from './notices.route.ts';
import { orderRoutes } from './orders.route.ts';
import { timeRoutes } from './time.route.ts';

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** The control API has no credentials, so it accepts only loopback connections, whatever the listening address. */
export function controlRoutes(app: FastifyInstance, deps: Deps, publicUrl: () => string): void {
  app.register((scope, _options, done) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (LOOPBACK.test(request.socket.remoteAddress ?? '')) return;
      await reply
        .code(403)
        .send({ code: 'FORBIDDEN', message: 'the control API accepts only loopback connections' });
    });
    faultRoutes(scope, deps);
    timeRoutes(scope, deps);
    keyPayerRoutes(scope, deps);
    bankVisitRoutes(scope, deps);
    directoryRoutes(scope, deps);
    orderRoutes(scope, deps);
    noticeRoutes(scope, deps);
    inspectRoutes(scope, deps, publicUrl);
    done();
  });
}
