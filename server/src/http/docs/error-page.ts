import { STATUS_CODES } from 'node:http';
import { html, type SafeHtml } from '../html.ts';
import { codeBlock, jsonMarkup } from './code-block.ts';
import { ERROR_WORDS, type RetryAdvice } from './error-words.ts';
import { type DocsLanguage, docsAddress, docsPage } from './layout.ts';
import { inlineProse, prose } from './prose.ts';

type Translated = Readonly<Record<DocsLanguage, string>>;

export interface ErrorPageEntry {
  readonly code: string;
  readonly status: number;
  readonly title: Translated;
  readonly cause: Translated;
  readonly remedy: Translated;
  readonly retry: RetryAdvice;
  /** Members this code adds to the problem document, for the example: `existingId`, `errors`. */
  readonly exampleMembers?: Readonly<Record<string, unknown>> | undefined;
}

const TONES: Readonly<Record<RetryAdvice, string>> = {
  safe: 'success',
  after_change: 'warning',
  never: 'danger',
};

function errorPath(code: string): string {
  return `/docs/errors/${encodeURIComponent(code)}`;
}

function statusName(status: number): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

function retryChip(retry: RetryAdvice, language: DocsLanguage): SafeHtml {
  return html`<span class="chip ${TONES[retry]}">${ERROR_WORDS[language].chip[retry]}</span>`;
}

function exampleProblem(entry: ErrorPageEntry, language: DocsLanguage): Readonly<Record<string, unknown>> {
  return {
    type: errorPath(entry.code),
    title: entry.title[language],
    status: entry.status,
    detail: plainText(entry.cause[language]),
    instance: '/payins',
    code: entry.code,
    requestId: 'req_6GK10N6H3WRGWWPBP3ZQ',
    ...entry.exampleMembers,
  };
}

// The answer on the wire is plain text; the marks are for the page.
function plainText(text: string): string {
  return text.replaceAll(/[`*]/g, '');
}

export function errorPage(entry: ErrorPageEntry, language: DocsLanguage): string {
  const words = ERROR_WORDS[language];
  const title = entry.title[language];
  return docsPage({
    language,
    title: `${entry.code}: ${title}`,
    description: plainText(entry.cause[language]),
    current: 'errors',
    translated: true,
    main: html`<article class="answers">
<p class="crumbs"><a href="${docsAddress('/docs/errors', language)}">← ${words.catalogue}</a></p>
<h1>${title}</h1>
<dl class="facts">
<dt>${words.code}</dt><dd><code>${entry.code}</code></dd>
<dt>${words.status}</dt><dd>${statusName(entry.status)}</dd>
<dt>${words.retry}</dt><dd>${retryChip(entry.retry, language)}</dd>
</dl>
<h2>${words.cause}</h2>
<div class="prose">${prose(entry.cause[language])}</div>
<h2>${words.remedy}</h2>
<div class="prose">${prose(entry.remedy[language])}</div>
<h2>${words.retryQuestion}</h2>
<p class="prose">${inlineProse(words.advice[entry.retry])}</p>
<h2>${words.example}</h2>
<p class="prose">${inlineProse(words.exampleLead)}</p>
${codeBlock({ label: `HTTP ${statusName(entry.status)} · application/problem+json`, code: jsonMarkup(exampleProblem(entry, language)) })}
</article>`,
  });
}

function entryMarkup(entry: ErrorPageEntry, language: DocsLanguage): SafeHtml {
  return html`<li><a href="${docsAddress(errorPath(entry.code), language)}"><code>${entry.code}</code></a><span>${entry.title[language]}</span>${retryChip(entry.retry, language)}</li>`;
}

export function errorIndexPage(entries: readonly ErrorPageEntry[], language: DocsLanguage): string {
  const words = ERROR_WORDS[language];
  const statuses = [...new Set(entries.map((entry) => entry.status))].sort((one, other) => one - other);
  const withStatus = (status: number) =>
    entries.filter((entry) => entry.status === status).sort((one, other) => (one.code < other.code ? -1 : 1));
  return docsPage({
    language,
    title: words.catalogue,
    description: plainText(words.catalogueLead),
    current: 'errors',
    translated: true,
    main: html`<div class="stack"><h1>${words.catalogue}</h1>
<p class="prose">${inlineProse(words.catalogueLead)}</p></div>
${statuses.map(
  (status) => html`
<section class="status" aria-labelledby="status-${status}"><h2 id="status-${status}">${statusName(status)}</h2>
<ul class="catalogue">${withStatus(status).map((entry) => entryMarkup(entry, language))}</ul></section>`,
)}`,
  });
}

export function notFoundPage(language: DocsLanguage): string {
  const words = ERROR_WORDS[language];
  return docsPage({
    language,
    title: words.missingTitle,
    description: words.missingText,
    translated: true,
    main: html`<div class="stack"><h1>${words.missingTitle}</h1>
<p>${words.missingText}</p>
<ul>
<li><a href="/docs" hreflang="en">${words.reference}</a></li>
<li><a href="${docsAddress('/docs/errors', language)}">${words.catalogue}</a></li>
</ul></div>`,
  });
}
