import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from '../../kit/metrics.ts';

interface OpsOptions {
  readonly metrics: Metrics;
  /** All reasons why this process must not receive traffic; empty when it is ready. */
  readonly unready: () => Promise<readonly { readonly code: string; readonly message: string }[]>;
}

/** Serves `/livez`, `/readyz` and `/metrics` on a separate, internal port. */
export function buildOps(options: OpsOptions): FastifyInstance {
  const app = Fastify({ logger: false, requestTimeout: 5000, forceCloseConnections: true });
  // Liveness checks no dependency: an unreachable database is no reason to restart the process.
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
