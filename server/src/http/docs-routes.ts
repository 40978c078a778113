import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Language } from '../kit/error-catalogue.ts';
import { NOT_BUILT, problemListText, problemText } from './docs/problem-text.ts';
import { compressText, sendFile, sendText, vary } from './docs/send-file.ts';
import { type SiteFile, siteLoader } from './docs/site.ts';
import { negotiateLanguage } from './language.ts';
import { openApiDocument } from './openapi.ts';

/** Output folder of `npm run docs`. */
const BUILT = fileURLToPath(new URL('../../../docs/dist', import.meta.url));

/** Only the error pages are translated; all other pages are in English. */
const PROBLEM = /^errors(?:\/([^/]+))?$/;

/** Serves `/openapi.json` and the site at `/docs`. A problem's `type` URL resolves even if the site is not built. */
export function registerDocs(app: FastifyInstance, baseUrl: string, folder = BUILT): void {
  const openapi = compressText(JSON.stringify(openApiDocument(baseUrl), null, 2));
  const site = siteLoader(folder);

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = docsPath(request);
    const problem = PROBLEM.exec(path);
    const language = requestedLanguage(request);
    if (problem) {
      vary(reply, 'Accept-Language');
      reply.header('content-language', language);
    }
    const built = await site();
    if (!built) return plainTextReply(reply, path, problem, language);
    const find = (filePath: string): SiteFile | undefined => built.files.get(filePath);
    const file = (problem && language === 'es' ? find(`es/${path}`) : undefined) ?? find(path);
    if (file) return sendFile(request, reply, built, file, baseUrl);
    const missing = find('404');
    reply.code(404);
    return missing ? sendFile(request, reply, built, missing, baseUrl) : text(reply, 'Not found.\n');
  };

  app.get('/openapi.json', async (request, reply) =>
    sendText(request, reply, await openapi, 'application/json; charset=utf-8'),
  );
  for (const url of ['/docs', '/docs/*', '/llms.txt', '/llms-full.txt']) app.get(url, page);
}

/** The path below /docs, without a trailing slash. */
function docsPath({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?');
  return path
    .replace(/^\/docs(?=\/|$)/, '')
    .replace(/^\//, '')
    .replace(/\/$/, '');
}

function requestedLanguage({ query, headers }: FastifyRequest): Language {
  const { lang } = query as { lang?: unknown };
  return lang === 'es' || lang === 'en' ? lang : negotiateLanguage(headers['accept-language']);
}

function plainTextReply(
  reply: FastifyReply,
  path: string,
  problem: RegExpExecArray | null,
  language: Language,
): FastifyReply {
  if (!problem) return text(reply.code(path === '' ? 200 : 404), NOT_BUILT);
  const [, code] = problem;
  if (code === undefined) return text(reply, problemListText(language));
  const found = problemText(code.replace(/\.md$/, ''), language);
  return found === null ? text(reply.code(404), problemListText(language)) : text(reply, found);
}

function text(reply: FastifyReply, body: string): FastifyReply {
  return reply
    .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    .type('text/plain; charset=utf-8')
    .send(body);
}
