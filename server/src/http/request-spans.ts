import type { FastifyInstance, FastifyRequest } from 'fastify';
import { runInTrace } from '../kit/trace-context.ts';
import { NO_TRACER, type Span, type Tracer } from '../kit/tracer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null when the request is not sampled. */
    span: Span | null;
  }
}

/** A span for each sampled request. Paths and queries are no attributes: they can contain tokens. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.decorateRequest('span', null);
  if (tracer === NO_TRACER) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url;
    const name = route === undefined ? method : `${method} ${route}`;
    request.span = tracer.startRequest(name, request.headers['traceparent'], {
      'http.request.method': method,
      ...(route === undefined ? {} : { 'http.route': route }),
      'caudal.request.id': request.id,
    });
    done();
  });
  // After the body was read: events of the socket run outside the trace.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span) runInTrace(request.span.context, done);
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (request.span) endSpan(request.span, request, reply.statusCode);
    done();
  });
}

function endSpan(span: Span, { principal, problemCode }: FastifyRequest, status: number): void {
  span.set({
    'http.response.status_code': status,
    ...(principal ? { 'caudal.organization.id': principal.organization.id } : {}),
    ...(problemCode === null ? {} : { 'caudal.problem.code': problemCode }),
  });
  span.end(status >= 500 ? (problemCode ?? String(status)) : undefined);
}

/** The log fields of a sampled request. */
export function traceFields({ span }: Pick<FastifyRequest, 'span'>) {
  return span ? { traceId: span.context.traceId, spanId: span.context.spanId } : {};
}
