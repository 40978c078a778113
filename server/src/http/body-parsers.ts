import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../kit/errors.ts';
import { findJsonProblem } from './json-scan.ts';
import { negotiateLanguage } from './language.ts';
import { fieldError, invalidRequest } from './validation.ts';

/** More parameters than any form or query string of ours has. */
const MAX_PARAMETERS = 50;

/** Parses JSON and forms. Both must be valid UTF-8, so that no replacement character ends up in a payer's name. */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // Some clients send a content type without a body; `readBody` checks whether the operation requires a body.
    if (body.length === 0) return done(null, undefined);
    try {
      done(null, parseJson(request, body as Buffer));
    } catch (error) {
      done(error instanceof ApiError ? error : new ApiError('malformed_json', { cause: error }));
    }
  });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (request, body, done) => {
      try {
        done(null, parseForm(request, body as Buffer));
      } catch (error) {
        done(error as ApiError);
      }
    },
  );
}

function parseJson(request: FastifyRequest, body: Buffer): unknown {
  if (!isUtf8(body)) throw new SyntaxError('not UTF-8');
  const text = body.toString('utf8');
  const problem = findJsonProblem(text);
  if (problem !== null) {
    const { code, path } = problem;
    const error = fieldError(path, code, languageOf(request), code);
    throw code === 'duplicate_field'
      ? new ApiError('malformed_json', { fields: [error] })
      : invalidRequest([error]);
  }
  return JSON.parse(text);
}

/** A repeated parameter is rejected, because two readers of the form could use different ones (RFC 6749, section 3.2). */
function parseForm(request: FastifyRequest, body: Buffer): Record<string, string> {
  if (!isUtf8(body)) throw new ApiError('malformed_request');
  const text = body.toString('utf8');
  rejectTooManyParameters(request, text, 'body');
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name))
      throw invalidRequest([
        fieldError(name.slice(0, 100), 'duplicate_field', languageOf(request), 'duplicate_field'),
      ]);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** @throws ApiError before a long list of parameters is parsed and validated one by one */
export function rejectTooManyParameters(request: FastifyRequest, text: string, path: 'body' | 'query'): void {
  let count = 0;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    count += 1;
    if (count >= MAX_PARAMETERS)
      throw invalidRequest([fieldError(path, 'too_many_fields', languageOf(request), 'too_many_fields')]);
  }
}

function languageOf(request: FastifyRequest) {
  return negotiateLanguage(request.headers['accept-language']);
}
