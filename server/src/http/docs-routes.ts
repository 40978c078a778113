import type { FastifyInstance, FastifyReply } from 'fastify';
import { ERRORS, type ErrorCode, type Language } from '../kit/error-catalogue.ts';
import { type ErrorPageEntry, errorIndexPage, errorPage, notFoundPage } from './docs/error-page.ts';
import { docsContentSecurityPolicy } from './docs/layout.ts';
import { referencePage } from './docs/reference-page.ts';
import { languageOf } from './language.ts';
import { openApiDocument } from './openapi.ts';

/** Members a problem carries beyond the common ones, as an example on its page. */
const EXAMPLE_MEMBERS: Partial<Record<ErrorCode, Record<string, unknown>>> = {
  reference_taken: { existingId: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10' },
  insufficient_scope: { requiredScope: 'payins:write' },
  invalid_request: { errors: [{ path: 'amountInCents', code: 'too_small', message: 'Must be at least 1.' }] },
  unknown_field: {
    errors: [{ path: 'amountInCent', code: 'unknown_field', message: 'There is no such field here.' }],
  },
};

/** `/openapi.json`, `/docs` and a page for every problem. Rendered once: a defect in them stops the start. */
export function registerDocs(app: FastifyInstance, baseUrl: string): void {
  const document = openApiDocument(baseUrl);
  const openapi = JSON.stringify(document, null, 2);
  const reference = referencePage(document, { baseUrl });
  const policy = docsContentSecurityPolicy();
  const entries = (Object.keys(ERRORS) as ErrorCode[]).map(entryOf);

  const asked = (query: unknown, header: string | undefined): Language => {
    const { lang } = query as { lang?: unknown };
    return lang === 'es' || lang === 'en' ? lang : languageOf(header);
  };
  const page = (reply: FastifyReply, html: string) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .send(html);
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(openapi));
  app.get('/docs', (_request, reply) => page(reply, reference));
  app.get('/docs/errors', (request, reply) =>
    page(reply, errorIndexPage(entries, asked(request.query, request.headers['accept-language']))),
  );
  app.get('/docs/errors/:code', (request, reply) => {
    const language = asked(request.query, request.headers['accept-language']);
    const entry = entries.find(({ code }) => code === (request.params as { code: string }).code);
    return entry ? page(reply, errorPage(entry, language)) : page(reply.code(404), notFoundPage(language));
  });
}

function entryOf(code: ErrorCode): ErrorPageEntry {
  const { status, title, cause, remedy, retry } = ERRORS[code];
  const exampleMembers = EXAMPLE_MEMBERS[code];
  return { code, status, title, cause, remedy, retry, ...(exampleMembers ? { exampleMembers } : {}) };
}
