import type { FastifyReply } from 'fastify';
import type { Language } from '../kit/error-catalogue.ts';
import type { ApiError } from '../kit/errors.ts';

/** RFC 9457. `code` is what a client branches on; the texts are for people. */
export function problemBody(
  fault: ApiError,
  context: { baseUrl: string; requestId: string; instance: string; language: Language },
): object {
  const { entry } = fault;
  return {
    type: `${context.baseUrl}/docs/errors/${fault.code}`,
    title: entry.title[context.language],
    status: entry.status,
    detail: entry.cause[context.language],
    instance: context.instance,
    code: fault.code,
    requestId: context.requestId,
    ...fault.members,
    ...(fault.fields.length > 0 ? { errors: fault.fields } : {}),
  };
}

export function sendProblem(
  reply: FastifyReply,
  fault: ApiError,
  context: Parameters<typeof problemBody>[1],
): FastifyReply {
  reply
    .code(fault.entry.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .header('content-language', context.language);
  if (fault.retryAfterSeconds !== null) reply.header('retry-after', String(fault.retryAfterSeconds));
  if (fault.entry.status === 401)
    reply.header(
      'www-authenticate',
      `${fault.code === 'invalid_client' ? 'Basic' : 'Bearer'} realm="caudal"`,
    );
  return reply.send(JSON.stringify(problemBody(fault, context)));
}
