import type { FastifyReply, FastifyRequest } from 'fastify';
import { languageCookie, readLanguage } from './language.ts';
import { STYLE } from './style.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** A list of names and values. Escapes both. */
export function facts(rows: readonly (readonly [name: string, value: string])[]): string {
  const items = rows.map(
    ([name, value]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd></div>`,
  );
  return `<dl class="facts">${items.join('\n')}</dl>`;
}

/** Groups the digits of the text: an amount is never converted to a float. */
export function formatPesos(amount: string): string {
  const [pesos = '0', cents = '00'] = amount.split('.');
  return `COP $ ${pesos.replace(/\B(?=(\d{3})+$)/g, '.')},${cents}`;
}

/** A time of the simulator's clock, to the second. */
export function utcText(at: string): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC`;
}

// Forms post only to this site. Chrome applies form-action to redirects after a post too, so the page returns to
// the merchant by a link, never by a redirect.
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export type Page = {
  readonly status?: number;
  readonly title: string;
  /** HTML with escaped values. */
  readonly body: string;
  /** Query of the same page in the other language, for a page that answers a form. */
  readonly query?: Readonly<Record<string, string>>;
};

const BANNER = { es: 'Simulador: aquí no se mueve dinero.', en: 'Simulator: no money moves here.' };
const OTHER = {
  es: { language: 'en', name: 'English' },
  en: { language: 'es', name: 'Español' },
} as const;

/** The page loads no resources, and the policy forbids them. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, title, body, query }: Page,
): FastifyReply {
  const language = readLanguage(request);
  const other = OTHER[language];
  const search = new URLSearchParams(query ?? (request.query as Record<string, string>));
  search.set('lang', other.language);
  const cookie = languageCookie(request);
  if (cookie !== null) reply.header('set-cookie', cookie);
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-store')
    .send(`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header class="banner">${BANNER[language]}</header>
<main>
${body}
</main>
<footer><a href="?${escapeHtml(search.toString())}" lang="${other.language}" hreflang="${other.language}">${other.name}</a></footer>
</body>
</html>
`);
}
