import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { html, type SafeHtml } from '../html.ts';
import { bogotaTime, groupedKey } from './format.ts';
import { CHECK } from './icons.ts';
import { moneyNotes } from './money-notes.ts';
import { emailForm } from './receipt-email-form.ts';
import { receiptMessages } from './receipt-messages.ts';
import { bankName, type RenderContext } from './render-context.ts';
import { back } from './shop-contact.ts';

/** What the head of the page does not show: it has the amount, the shop and the reference. */
function paymentFacts({ messages }: RenderContext, { payin }: PagePayin): SafeHtml {
  const { source } = payin;
  const cus = source.rail === 'PSE' ? (source.page?.cus ?? null) : null;
  return html`<dl><dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, messages.language)}</dd>
<dt>${messages.paidWith}</dt><dd>${source.rail === 'PSE' ? `PSE · ${bankName(source.bank)}` : 'Bre-B'}</dd>
${source.rail === 'BRE_B' ? html`<dt>${messages.key}</dt><dd>${groupedKey(source.key)}</dd>` : cus !== null && html`<dt>${messages.cus}</dt><dd>${cus}</dd>`}</dl>`;
}

export function confirmedScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages } = context;
  // No automatic redirect while there are notes to read.
  const notes = moneyNotes(context);
  return html`${CHECK}<h1>${messages.confirmed.title}</h1>${notes}
<p><a class="button quiet" href="${context.receiptUrl(attempt)}">${messages.confirmed.receipt}</a></p>
${back(context, notes.length === 0)}${context.sendsEmail && emailForm(receiptMessages(messages.language), { action: `${context.receiptUrl(attempt)}/email`, state: 'empty', typed: '' })}
${paymentFacts(context, attempt)}`;
}

/** The link is paid, but not by this browser. */
export function alreadyPaidScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { alreadyPaid } = context.messages;
  return html`${CHECK}<h1>${alreadyPaid.title}</h1>
<p><a class="button quiet" href="${context.receiptUrl(attempt)}">${alreadyPaid.receipt}</a></p>${back(context, true)}`;
}
