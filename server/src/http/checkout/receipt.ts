import { qrPngDataUri } from '../../kit/qr-png.ts';
import type { Shop } from '../../organizations/shops.ts';
import { html, type SafeHtml } from '../html.ts';
import type { Page } from './layout.ts';
import type { ReceiptContent } from './receipt-content.ts';
import { type EmailForm, emailForm } from './receipt-email-form.ts';

interface ReceiptPage {
  readonly shop: Shop;
  readonly amount: bigint;
  readonly content: ReceiptContent;
  /** Absolute URL of this page, to share it. */
  readonly url: string;
  readonly pdfUrl: string;
  /** Null if the deployment sends no e-mail. */
  readonly email: EmailForm | null;
}

/** The public receipt. Anybody can open and check it, so it shows no data of the payer. */
export function receiptPage({ shop, amount, content, url, pdfUrl, email }: ReceiptPage): Page {
  const { messages, rows } = content;
  return {
    title: messages.title,
    shop,
    amount,
    reference: null,
    description: null,
    main: html`${content.testMark !== null && html`<p class="test-mark">${content.testMark}</p>`}
<p class="stamp${!content.paid && ' void'}">${content.stamp}</p><h1>${messages.title}</h1>
${content.note !== null && html`<p class="note">${content.note}</p>`}
<dl class="facts">${rows.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>
${content.qrText !== null && proof(content, content.qrText)}
<p><a class="button" href="${pdfUrl}" download>${messages.pdf}</a></p>
<p><button class="button quiet" type="button" data-share-url="${url}" hidden>${messages.share}</button></p>
<p><button class="button quiet" type="button" data-print hidden>${messages.print}</button></p>
${email && emailForm(messages, email)}`,
    live: null,
    refreshSeconds: null,
  };
}

function proof({ messages, code, verify }: ReceiptContent, qrText: string): SafeHtml {
  return html`<section class="proof"><p>${messages.code}</p><p class="code">${code}</p>
<img class="receipt-qr" src="${qrPngDataUri(qrText)}" alt="${messages.qr}">
<p><strong>${verify}</strong></p><p class="support">${messages.verifyAbout}</p></section>`;
}
