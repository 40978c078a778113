import { type FastifyInstance, fastify } from 'fastify';
import { brebRoutes } from './breb/breb.routes.ts';
import { controlRoutes } from './control/control.routes.ts';
import { releaseAllHung } from './control/fault.store.ts';
import type { Deps } from './deps.ts';
import { bankPage } from './pages/bank.page.ts';
import { homePage } from './pages/home.page.ts';
import { payPage } from './pages/pay.page.ts';
import { pseRoutes } from './pse/pse.routes.ts';
import { BadRequest, BODY_LIMIT_BYTES, keepBodiesAsText } from './request-body.ts';

/** `publicUrl` is a function because with port 0 the real port is known only once the app listens. */
export function buildApp(deps: Deps, publicUrl: () => string): FastifyInstance {
  const app = fastify({ bodyLimit: BODY_LIMIT_BYTES, routerOptions: { maxParamLength: 200 } });
  keepBodiesAsText(app);
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ code: 'NOT_FOUND', message: 'no such path' }),
  );
  app.setErrorHandler((error, _request, reply) => {
    const { status, message } = describe(error);
    if (status >= 500) deps.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return reply.code(status).send({ code: status >= 500 ? 'INTERNAL' : 'BAD_REQUEST', message });
  });
  // Runs before the server waits for open calls: a hung call would block the shutdown forever.
  app.addHook('preClose', (done) => {
    releaseAllHung(deps.state.faults);
    done();
  });
  brebRoutes(app, deps);
  pseRoutes(app, deps, publicUrl);
  controlRoutes(app, deps, publicUrl);
  bankPage(app, deps);
  payPage(app, deps);
  homePage(app, deps);
  return app;
}

function describe(error: unknown): { status: number; message: string } {
  if (error instanceof BadRequest) return { status: 400, message: error.message };
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  if (error instanceof Error && typeof status === 'number' && status >= 400 && status < 500) {
    return { status, message: error.message };
  }
  return { status: 500, message: 'internal error' };
}
