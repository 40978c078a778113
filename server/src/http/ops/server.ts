import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from '../../kit/metrics.ts';

interface OpsOptions {
  readonly metrics: Metrics;
  /** Every reason why this process should get no traffic; empty when it is ready. */
  readonly unready: () => Promise<readonly string[]>;
}

/** `/livez`, `/readyz`, `/metrics`, on a port of their own that stays inside. */
export function buildOps(options: OpsOptions): FastifyInstance {
  const app = Fastify({ logger: false, requestTimeout: 5000, forceCloseConnections: true });
  // The process is alive when it can answer at all. It asks nobody: a database that is away is no reason to restart.
  app.get('/livez', () => ({ status: 'alive' }));
  app.get('/readyz', async (_request, reply) => {
    const reasons = await options.unready();
    return reply
      .code(reasons.length === 0 ? 200 : 503)
      .send({ status: reasons.length === 0 ? 'ready' : 'unready', reasons });
  });
  app.get('/metrics', (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(options.metrics.render()),
  );
  return app;
}
