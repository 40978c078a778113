import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';

/** The request violates the API schema: answered with 400 and this message. */
export class BadRequest extends Error {}

/** Well above the size of 500 keys with long names. */
export const BODY_LIMIT_BYTES = 2 << 20;

/** The handler parses bodies, because faults apply before parsing, even to invalid JSON. */
export function keepBodiesAsText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
}

export function readBody<T>(schema: z.ZodType<T>, request: FastifyRequest): T {
  const result = schema.safeParse(decode(request));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.join('.') ?? '';
  throw new BadRequest(path === '' ? (issue?.message ?? 'invalid body') : `${path}: ${issue?.message}`);
}

function decode(request: FastifyRequest): unknown {
  if (typeof request.body !== 'string') return undefined;
  if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true) {
    return Object.fromEntries(new URLSearchParams(request.body));
  }
  try {
    return JSON.parse(request.body);
  } catch (error) {
    throw new BadRequest('the body is not JSON', { cause: error });
  }
}
