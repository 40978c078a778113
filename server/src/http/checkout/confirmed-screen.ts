import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { html, type SafeHtml } from '../html.ts';
import { bogotaTime, groupedKey, moneyText } from './format.ts';
import { CHECK } from './icons.ts';
import { moneyNotes, suspendedMoney } from './money-notes.ts';
import { bankName, type RenderContext } from './render-context.ts';
import { back } from './shop-contact.ts';

export function paymentFacts(
  { messages, shop }: Pick<RenderContext, 'messages' | 'shop'>,
  attempt: PagePayin,
): SafeHtml {
  const { payin } = attempt;
  const { source } = payin;
  const cus = source.rail === 'PSE' ? (source.page?.cus ?? null) : null;
  const excess = suspendedMoney({ attempts: [attempt] });
  return html`<dl><dt>${messages.amount}</dt><dd>${moneyText(payin.confirmedAmount ?? payin.amount)} COP</dd>
${excess.length > 0 && html`<dt>${messages.suspended.excessLabel}</dt><dd>${moneyText(excess.reduce((sum, { amount }) => sum + amount, 0n))} COP</dd>`}
<dt>${messages.shop}</dt><dd>${shop.organization.name}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, messages.language)}</dd>
<dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.paidWith}</dt><dd>${source.rail === 'PSE' ? `PSE · ${bankName(source.bank)}` : 'Bre-B'}</dd>
${source.rail === 'BRE_B' ? html`<dt>${messages.key}</dt><dd>${groupedKey(source.key)}</dd>` : cus !== null && html`<dt>${messages.cus}</dt><dd>${cus}</dd>`}</dl>`;
}

export function confirmedScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages } = context;
  // No automatic redirect while there are notes to read.
  const notes = moneyNotes(context);
  return html`${CHECK}<h1>${messages.confirmed.title}</h1>${paymentFacts(context, attempt)}${notes}${back(context, notes.length === 0)}
<p><a class="button quiet" href="${context.receiptUrl(attempt)}">${messages.confirmed.receipt}</a></p>`;
}

/** The link is paid, but not by this browser. */
export function alreadyPaidScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { alreadyPaid } = context.messages;
  return html`${CHECK}<h1>${alreadyPaid.title}</h1>
<p><a class="button quiet" href="${context.receiptUrl(attempt)}">${alreadyPaid.receipt}</a></p>${back(context, true)}`;
}
