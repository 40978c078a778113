import type { FastifyReply } from 'fastify';
import type { Language } from '../kit/error-catalogue.ts';
import type { ApiError } from '../kit/errors.ts';

/** RFC 9457 problem. Clients branch on `code`; the texts are for people. */
export function problemBody(
  error: ApiError,
  context: { baseUrl: string; requestId: string; instance: string; language: Language },
): object {
  const { entry } = error;
  return {
    type: `${context.baseUrl}/docs/errors/${error.code}`,
    title: entry.title[context.language],
    status: entry.status,
    detail: entry.cause[context.language],
    instance: context.instance,
    code: error.code,
    requestId: context.requestId,
    ...error.members,
    ...(error.fields.length > 0 ? { errors: error.fields } : {}),
  };
}

export function sendProblem(
  reply: FastifyReply,
  error: ApiError,
  context: Parameters<typeof problemBody>[1],
): FastifyReply {
  reply
    .code(error.entry.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .header('content-language', context.language);
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
  if (error.entry.status === 401)
    reply.header(
      'www-authenticate',
      `${error.code === 'invalid_client' ? 'Basic' : 'Bearer'} realm="caudal"`,
    );
  return reply.send(JSON.stringify(problemBody(error, context)));
}
