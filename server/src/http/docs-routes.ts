import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Language } from '../kit/error-catalogue.ts';
import { NOT_BUILT, problemListText, problemText } from './docs/problem-text.ts';
import { sendFile, vary } from './docs/send-file.ts';
import { type SiteFile, siteIn } from './docs/site.ts';
import { languageOf } from './language.ts';
import { openApiDocument } from './openapi.ts';

/** Where `npm run docs` puts the site. */
const BUILT = fileURLToPath(new URL('../../../docs/dist', import.meta.url));

/** Problems are explained in the reader's language; all else is in English. */
const PROBLEM = /^errors(?:\/([^/]+))?$/;

/** `/openapi.json`, and the site at `/docs`. A problem's `type` resolves even where the site is not built. */
export function registerDocs(app: FastifyInstance, baseUrl: string, folder = BUILT): void {
  const openapi = JSON.stringify(openApiDocument(baseUrl), null, 2);
  const site = siteIn(folder);

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = addressOf(request);
    const problem = PROBLEM.exec(asked);
    const language = languageAsked(request);
    if (problem) {
      vary(reply, 'Accept-Language');
      reply.header('content-language', language);
    }
    const built = await site();
    if (!built) return plainAnswer(reply, asked, problem, language);
    const find = (address: string): SiteFile | undefined => built.files.get(address);
    const file = (problem && language === 'es' ? find(`es/${asked}`) : undefined) ?? find(asked);
    if (file) return sendFile(request, reply, built, file);
    const missing = find('404');
    reply.code(404);
    return missing ? sendFile(request, reply, built, missing) : text(reply, 'Not found.\n');
  };

  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(openapi));
  for (const url of ['/docs', '/docs/*', '/llms.txt', '/llms-full.txt']) app.get(url, page);
}

/** What was asked for, below /docs; a slash at the end changes nothing. */
function addressOf({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?');
  return path
    .replace(/^\/docs(?=\/|$)/, '')
    .replace(/^\//, '')
    .replace(/\/$/, '');
}

function languageAsked({ query, headers }: FastifyRequest): Language {
  const { lang } = query as { lang?: unknown };
  return lang === 'es' || lang === 'en' ? lang : languageOf(headers['accept-language']);
}

function plainAnswer(
  reply: FastifyReply,
  asked: string,
  problem: RegExpExecArray | null,
  language: Language,
): FastifyReply {
  if (!problem) return text(reply.code(asked === '' ? 200 : 404), NOT_BUILT);
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
