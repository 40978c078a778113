import { createHash } from 'node:crypto';
import { html, type SafeHtml, trustedMarkup } from '../html.ts';
import { DOCS_CSS } from './docs-css.ts';

export { DOCS_CSS };

export type DocsLanguage = 'en' | 'es';

interface DocsPage {
  readonly language: DocsLanguage;
  readonly title: string;
  readonly description: string;
  readonly current?: 'reference' | 'errors';
  /** Links to the sections of a long page: a column on a desk, a box to open on a phone. */
  readonly contents?: SafeHtml;
  /** Only pages written in both languages offer the other one. */
  readonly translated: boolean;
  readonly main: SafeHtml;
}

const WORDS = {
  en: {
    skip: 'Skip to content',
    sections: 'Documentation',
    contents: 'Contents',
    reference: 'Reference',
    errors: 'Errors',
    foot: 'This page loads nothing from outside and runs no script.',
  },
  es: {
    skip: 'Saltar al contenido',
    sections: 'Documentación',
    contents: 'Contenido',
    reference: 'Referencia',
    errors: 'Errores',
    foot: 'Esta página no carga nada de afuera ni ejecuta código.',
  },
} as const;

const OTHER_LANGUAGE = {
  en: { code: 'es', name: 'Español' },
  es: { code: 'en', name: 'English' },
} as const;

/** English is what an address without `lang` means, so only Spanish is carried from page to page. */
export function docsAddress(path: string, language: DocsLanguage): string {
  return language === 'en' ? path : `${path}?lang=${language}`;
}

function languageSwitch(language: DocsLanguage): SafeHtml {
  const { code, name } = OTHER_LANGUAGE[language];
  return html`<a class="language" href="?lang=${code}" hreflang="${code}" lang="${code}">${name}</a>`;
}

function bar(page: DocsPage): SafeHtml {
  const words = WORDS[page.language];
  const current = (section: DocsPage['current']) => page.current === section && html` aria-current="page"`;
  return html`<header class="bar"><div>
<a class="brand" href="/docs">Caudal</a>
<nav aria-label="${words.sections}">
<a href="/docs"${current('reference')}${page.language === 'es' && html` hreflang="en"`}>${words.reference}</a>
<a href="${docsAddress('/docs/errors', page.language)}"${current('errors')}>${words.errors}</a>
<a href="/openapi.json">openapi.json</a>
</nav>
${page.translated && languageSwitch(page.language)}
</div></header>`;
}

function contentsMarkup(page: DocsPage): SafeHtml | false {
  if (page.contents === undefined) return false;
  const label = WORDS[page.language].contents;
  // Written twice because CSS cannot hold a closed <details> open; the one not shown is hidden from readers too.
  return html`<details class="toc"><summary>${label}</summary><nav class="contents" aria-label="${label}">${page.contents}</nav></details>
<nav class="side" aria-label="${label}"><div class="contents">${page.contents}</div></nav>`;
}

export function docsPage(page: DocsPage): string {
  const words = WORDS[page.language];
  const frame = page.contents === undefined ? 'frame narrow' : 'frame with-side';
  return html`<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.description}">
<title>${page.title} · Caudal</title>
<link rel="icon" href="data:,">
<style>${trustedMarkup(DOCS_CSS)}</style>
</head>
<body>
<a class="skip" href="#main">${words.skip}</a>
${bar(page)}
<div class="${frame}">
${contentsMarkup(page)}
<main id="main" tabindex="-1">
${page.main}
</main>
</div>
<footer class="foot">${words.foot}</footer>
</body>
</html>
`.toString();
}

/** The value of Content-Security-Policy for every documentation page: our one style sheet and nothing else. */
export function docsContentSecurityPolicy(): string {
  const hash = createHash('sha256').update(DOCS_CSS, 'utf8').digest('base64');
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
