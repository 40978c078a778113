import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from '../../kit/metrics.ts';

interface OpsOptions {
  readonly metrics: Metrics;
  /** Every reason why this process should get no traffic; empty when it is ready. */
  readonly unready: () => Promise<readonly { readonly code: string; readonly message: string }[]>;
}

/** `/livez`, `/readyz`, `/metrics`, on a port of their own that stays inside. */
export function buildOps(options: OpsOptions): FastifyInstance {
  const app = Fastify({ logger: false, requestTimeout: 5000, forceCloseConnections: true });
  // The process is alive when it can answer at all. It asks nobody: a database that is away is no reason to restart.
  app.get('/livez', () => ({ status: 'alive' }));
  app.get('/readyz', async (_request, reply) => {
    const reasons = await options.unready();
    const ready = reasons.length === 0;
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'unready',
      codes: reasons.map(({ code }) => code),
      reasons: reasons.map(({ message }) => message),
    });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await options.metrics.scrape()),
  );
  return app;
}
