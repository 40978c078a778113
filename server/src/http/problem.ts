import type { FastifyReply } from 'fastify';
import type { Language } from '../kit/error-catalogue.ts';
import type { ApiError } from '../kit/errors.ts';

interface ProblemContext {
  readonly baseUrl: string;
  readonly requestId: string;
  readonly instance: string;
  readonly language: Language;
}

const TRAILING_SLASH: Readonly<Record<Language, string>> = {
  en: 'No path of the API ends with a slash: remove it.',
  es: 'Ninguna ruta del API termina en barra: quítela.',
};

/** RFC 9457 problem. Clients branch on `code`; the texts are for people. */
export function problemBody(error: ApiError, context: ProblemContext): object {
  const { entry } = error;
  return {
    type: `${context.baseUrl}/docs/errors/${error.code}`,
    title: entry.title[context.language],
    status: entry.status,
    detail: detailText(error, context),
    instance: context.instance,
    code: error.code,
    requestId: context.requestId,
    ...error.members,
    ...(error.fields.length > 0 ? { errors: error.fields } : {}),
  };
}

/** The general text of `not_found` would not reveal the slash, which many HTTP clients add. */
function detailText({ code, entry }: ApiError, { instance, language }: ProblemContext): string {
  return code === 'not_found' && /.\/$/.test(instance) ? TRAILING_SLASH[language] : entry.cause[language];
}

export function sendProblem(reply: FastifyReply, error: ApiError, context: ProblemContext): FastifyReply {
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
