import type { FastifyRequest } from 'fastify';

export type Language = 'es' | 'en';

/** A text in both languages. */
export type Text = { readonly es: string; readonly en: string };

/** Named after the simulator: browsers send the cookies of one host to all of its ports. */
const COOKIE = 'simulator_language';

function isLanguage(text: unknown): text is Language {
  return text === 'es' || text === 'en';
}

function chosenLanguage(request: FastifyRequest): Language | null {
  const { lang } = request.query as { lang?: unknown };
  return isLanguage(lang) ? lang : null;
}

/** Spanish, unless the reader chose English on this or an earlier page. */
export function readLanguage(request: FastifyRequest): Language {
  const [, remembered] = new RegExp(`(?:^|; )${COOKIE}=(\\w+)`).exec(request.headers.cookie ?? '') ?? [];
  return chosenLanguage(request) ?? (isLanguage(remembered) ? remembered : 'es');
}

/** The `set-cookie` header that remembers a choice; null without a choice. */
export function languageCookie(request: FastifyRequest): string | null {
  const language = chosenLanguage(request);
  return language && `${COOKIE}=${language}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly`;
}
