import type { Shop } from '../../organizations/shops.ts';
import { html, type SafeHtml, trustedMarkup } from '../html.ts';

import { accentVariables } from './accent.ts';
import { brandMetadata, operatorLine, shopHeader } from './brand.ts';
import { accentColor } from './brand-images.ts';
import type { OperatorIdentity } from './brand-types.ts';
import { CHECKOUT_CSS } from './checkout-css.ts';
import { CHECKOUT_SCRIPT } from './checkout-script.ts';

import type { Messages } from './messages.ts';
import { PAYER_FORM_ID } from './render-context.ts';
import { assistance } from './shop-contact.ts';

/** The parts of a document that do not depend on the screen. */
export interface Frame {
  readonly messages: Messages;
  readonly nonce: string;
  /** The same page in the other language. */
  readonly otherLanguageUrl: string;
  readonly staging: boolean;
  readonly operator: OperatorIdentity;
  /** Public base URL of the checkout pages. */
  readonly checkoutUrl: string;
}

export interface Page {
  readonly title: string;
  readonly shop: Shop | null;
  readonly amount: bigint | null;
  readonly reference: string | null;
  readonly description: string | null;
  readonly main: SafeHtml;
  /** What the service can confirm about the charge, below the screen. */
  readonly authenticity?: SafeHtml | null;
  /** URL of the live status, and the status stamp of this page; null if the status cannot change any more. */
  readonly live: { readonly url: string; readonly stamp: string } | null;
  /** Reload interval for browsers without JavaScript. Without `live` the script also reloads the page, once it answers. */
  readonly refreshSeconds: number | null;
  /** Where the language switch submits the payer's form, so that typed values survive; without a form it is a link. */
  readonly languageAction?: string;
}

const PADLOCK = trustedMarkup(
  '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><rect x="4" y="9" width="12" height="8" rx="2"/><path d="M7 9V6.5a3 3 0 0 1 6 0V9"/></svg>',
);

// Inlined, because on a slow network a second request delays the first paint by two seconds.
const STYLES = trustedMarkup(CHECKOUT_CSS);
const SCRIPT = trustedMarkup(CHECKOUT_SCRIPT);

/** Renders a complete page. All screens share the same header, so that only the changed part moves. */
export function renderDocument({ messages, nonce, ...frame }: Frame, page: Page): string {
  const accent = accentColor(page.shop);
  const autoRefresh =
    page.refreshSeconds !== null &&
    html`<noscript><meta http-equiv="refresh" content="${page.refreshSeconds}"></noscript>`;
  return html`${trustedMarkup('<!doctype html>')}
<html lang="${messages.language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><meta name="color-scheme" content="light dark"><meta name="format-detection" content="telephone=no">
<title>${pageTitle(page)}</title>${brandMetadata(messages, frame, page)}
<style nonce="${nonce}">${STYLES}${accentVariables(accent)}</style>
${autoRefresh}</head>
<body${liveAttribute(page)}>
${frame.staging && html`<aside class="ribbon">${messages.staging}</aside>`}
<div class="card${page.shop && ' order'}">${page.shop && shopHeader(page.shop, messages, page, frame)}
<p id="connection" class="notice" data-lost="${messages.connection.lost}" data-offline="${messages.connection.offline}" data-unsent="${messages.connection.unsent}"></p>
${mainElement(page)}
${assistance(messages, page, frame.operator)}
<p id="announcer" class="visually-hidden" role="status" aria-live="polite"></p></div>
<footer><p>${PADLOCK}${messages.neverAsked}</p><p>${frame.operator.name} · ${languageSwitch(messages, frame.otherLanguageUrl, page)}</p>${operatorLine(messages, frame.operator)}</footer>
<script nonce="${nonce}">${SCRIPT}</script></body></html>
`.toString();
}

/**
 * Renders the part that changes, for the script of an open page. It omits style sheet and script: the
 * Content-Security-Policy of the open page would reject their nonces.
 */
export function renderFragment(page: Page): string {
  return html`${trustedMarkup('<!doctype html>')}<title>${pageTitle(page)}</title><body${liveAttribute(page)}>${mainElement(page)}</body>`.toString();
}

function languageSwitch(messages: Messages, url: string, { languageAction }: Page): SafeHtml {
  const language = messages.language === 'en' ? 'es' : 'en';
  if (languageAction === undefined)
    return html`<a href="${url}" hreflang="${language}" lang="${language}">${messages.otherLanguage}</a>`;
  return html`<button class="link" form="${PAYER_FORM_ID}" formmethod="post" formaction="${languageAction}" formnovalidate name="lang" value="${language}" lang="${language}">${messages.otherLanguage}</button>`;
}

function pageTitle({ title, shop }: Page): string {
  return shop ? `${title} · ${shop.organization.name}` : title;
}

function liveAttribute({ live, refreshSeconds }: Page): SafeHtml | null {
  if (live) return html` data-live="${live.url}" data-stamp="${live.stamp}"`;
  return refreshSeconds === null ? null : html` data-reopen`;
}

function mainElement({ main }: Page): SafeHtml {
  return html`<main id="main" tabindex="-1">${main}</main>`;
}
