import type { FastifyReply } from 'fastify';
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

// Forms post only to this site. Chrome applies form-action to redirects after a post too, so the page returns to
// the merchant by a link, never by a redirect.
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** `body` is HTML with escaped values. The page loads no resources, and the policy forbids them. */
export function sendPage(reply: FastifyReply, status: number, title: string, body: string): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-store')
    .send(`<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<p class="banner">Simulador: aquí no se mueve dinero.</p>
<main>
${body}
</main>
</body>
</html>
`);
}
