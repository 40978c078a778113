import { sha256 } from '../../kit/crypto.ts';
import type { PublishedKeys } from '../../receipts/receipt-keys.ts';
import { CHECKOUT_CSS } from '../checkout/checkout-css.ts';
import { bogotaTime, moneyText } from '../checkout/format.ts';
import { CHECK, CLOCK, CROSS } from '../checkout/icons.ts';
import { html, type SafeHtml, trustedMarkup } from '../html.ts';
import type { CheckResult } from './check-result.ts';
import { describeResult } from './describe-result.ts';
import type { VerifyMessages } from './verify-messages.ts';
import { VERIFY_SCRIPT } from './verify-script.ts';

const MARKS = { good: CHECK, bad: CROSS, wait: CLOCK } as const;

const STYLE = `${CHECKOUT_CSS}
:root{--accent:#0f766e;--on-accent:#fff}
main>*+*,.result>*+*{margin-top:16px}
h2{font-size:20px;line-height:1.3;margin:0}
.result:not(:empty){border-top:1px solid var(--line);padding-top:16px}
.result.bad h2{color:var(--bad)}.result.good h2{color:var(--good)}.result.wait h2{color:var(--warn)}
`;

export interface VerifyPage {
  readonly messages: VerifyMessages;
  readonly keys: PublishedKeys;
  readonly staging: boolean;
  readonly operator: string;
  /** The typed text and its result, for browsers without JavaScript. */
  readonly checked: { readonly text: string; readonly result: CheckResult } | null;
}

/** Renders the page. It loads nothing else, so that a stored copy works without a connection. */
export function renderVerifyPage({ messages, keys, staging, operator, checked }: VerifyPage): string {
  const path = messages.language === 'es' ? '/verificar' : '/verify';
  const otherPath = messages.language === 'es' ? '/verify' : '/verificar';
  const otherLanguage = messages.language === 'es' ? 'en' : 'es';
  return html`${trustedMarkup('<!doctype html>')}
<html lang="${messages.language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="format-detection" content="telephone=no">
<title>${messages.title} · ${operator}</title>
<style>${trustedMarkup(STYLE)}</style></head>
<body>${staging && html`<aside class="ribbon">${messages.staging}</aside>`}
<div class="card"><main id="main"><h1>${messages.title}</h1>
<div id="result" class="result" role="status">${checked && resultBlock(checked.result, messages)}</div>
<p>${messages.about}</p>
<form id="form" method="get" action="${path}"><div class="field"><label for="c">${messages.field}</label><small id="hint">${messages.hint}</small>
<input id="c" name="c" type="text" value="${checked?.text}" required autocomplete="off" autocapitalize="characters" spellcheck="false" aria-describedby="hint"></div>
<p class="last"><button class="button">${messages.check}</button></p></form>
<noscript><p class="support">${messages.noScript}</p></noscript></main></div>
<footer><p>${operator} · <a id="other" href="${otherPath}" hreflang="${otherLanguage}" lang="${otherLanguage}">${messages.otherLanguage}</a></p></footer>
${Object.entries(MARKS).map(([tone, mark]) => html`<template id="mark-${tone}">${mark}</template>`)}
<script type="application/json" id="data">${jsonMarkup({ keys, messages })}</script>
<script>${trustedMarkup(VERIFY_SCRIPT)}</script>
</body></html>
`.toString();
}

function resultBlock(result: CheckResult, messages: VerifyMessages): SafeHtml {
  const { tone, title, lines, rows } = describeResult(result, messages, { moneyText, bogotaTime });
  return html`${MARKS[tone]}<h2>${title}</h2>${lines.map((line) => html`<p>${line}</p>`)}
${rows.length > 0 && html`<dl class="facts">${rows.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`}`;
}

/** JSON inside of a script element. Without `<`, no value can close the element. */
function jsonMarkup(value: unknown): SafeHtml {
  return trustedMarkup(JSON.stringify(value).replaceAll('<', '\\u003c'));
}

/** Hashes instead of nonces: a stored page is shown again with the headers that it was stored with. */
export const VERIFY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hashSource(VERIFY_SCRIPT)}`,
    `style-src ${hashSource(STYLE)}`,
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

function hashSource(text: string): string {
  return `'sha256-${sha256(text).toString('base64')}'`;
}
