import type { Shop } from '../../organizations/shops.ts';
import { html, type SafeHtml, trustedMarkup } from '../html.ts';
import { initials, moneyText, textOn } from './format.ts';
import type { Words } from './messages.ts';

/** Where a page's parts are, and how it may be changed without being loaded again. */
export interface Frame {
  readonly words: Words;
  readonly nonce: string;
  readonly styleUrl: string;
  readonly scriptUrl: string;
  /** The same page in the other language. */
  readonly otherLanguageUrl: string;
  readonly staging: boolean;
  readonly operator: string;
}

export interface Page {
  readonly title: string;
  readonly shop: Shop | null;
  readonly amount: bigint | null;
  readonly reference: string | null;
  readonly description: string | null;
  readonly main: SafeHtml;
  /** Where the server tells when something has changed, and how it stands on this page; null when nothing will change. */
  readonly live: { readonly url: string; readonly stamp: string } | null;
  /** Without script the page is loaded again after so long. */
  readonly refreshSeconds: number | null;
}

const PADLOCK = trustedMarkup(
  '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><rect x="4" y="9" width="12" height="8" rx="2"/><path d="M7 9V6.5a3 3 0 0 1 6 0V9"/></svg>',
);

/** A whole page. The head of every screen is the same, so that nothing moves but what changes. */
export function document({ words, nonce, ...frame }: Frame, page: Page): string {
  const accent = page.shop?.organization.accent ?? '#0f766e';
  const waits =
    page.refreshSeconds !== null &&
    html`<noscript><meta http-equiv="refresh" content="${page.refreshSeconds}"></noscript>`;
  return html`${trustedMarkup('<!doctype html>')}
<html lang="${words.language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><meta name="color-scheme" content="light dark"><meta name="format-detection" content="telephone=no">
<title>${titleOf(page)}</title>
<link rel="stylesheet" href="${frame.styleUrl}"><style nonce="${nonce}">:root{--accent:${accent};--on-accent:${textOn(accent)}}</style>
${waits}<script nonce="${nonce}" src="${frame.scriptUrl}" defer></script></head>
<body${liveAttribute(page)}>
${frame.staging && html`<aside class="ribbon">${words.staging}</aside>`}
<div class="card">${page.shop && head(page.shop, words, page)}
${mainOf(page)}
<p id="said" class="unseen" role="status" aria-live="polite"></p></div>
<footer><p>${PADLOCK}${words.neverAsked}</p><p>${frame.operator} · <a href="${frame.otherLanguageUrl}" hreflang="${words.language === 'en' ? 'es' : 'en'}" lang="${words.language === 'en' ? 'es' : 'en'}">${words.otherLanguage}</a></p></footer>
</body></html>
`.toString();
}

/**
 * The part that changes, for the script of a page that is open. Without sheet and script: under the policy of the page that
 * reads it their nonces would be foreign.
 */
export function fragment(page: Page): string {
  return html`${trustedMarkup('<!doctype html>')}<title>${titleOf(page)}</title><body${liveAttribute(page)}>${mainOf(page)}</body>`.toString();
}

function titleOf({ title, shop }: Page): string {
  return shop ? `${title} · ${shop.organization.name}` : title;
}

function liveAttribute({ live }: Page): SafeHtml | null {
  return live && html` data-live="${live.url}" data-stamp="${live.stamp}"`;
}

function mainOf({ main }: Page): SafeHtml {
  return html`<main id="main" tabindex="-1">${main}</main>`;
}

function head({ organization }: Shop, words: Words, { amount, reference, description }: Page): SafeHtml {
  return html`<header><p class="shop"><span class="disc" aria-hidden="true">${initials(organization.name)}</span><strong>${organization.name}</strong></p>
${amount !== null && html`<p class="amount">${moneyText(amount)} <small>COP</small></p>`}
${description !== null && html`<p class="about">${description}</p>`}
${reference !== null && html`<p class="reference">${words.reference} ${reference}</p>`}</header>`;
}
