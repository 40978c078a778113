import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { html, type SafeHtml } from '../html.ts';
import { bogotaTime, moneyText } from './format.ts';
import { CLOCK, CROSS } from './icons.ts';
import { formatMessage, type Messages } from './messages.ts';
import { bankName, type RenderContext } from './render-context.ts';
import { back, formatShopMessage, support } from './shop-contact.ts';

export function toBankScreen({ messages }: RenderContext, { payin }: PagePayin): SafeHtml {
  if (payin.source.rail !== 'PSE' || payin.source.page === null)
    throw new Error('payin has no bank page URL');
  const bank = bankName(payin.source.bank);
  return html`${CLOCK}<h1>${formatMessage(messages.toBank.title, { bank })}</h1><p>${messages.toBank.about}</p>
<p><a class="button" href="${payin.source.page.url}" data-go rel="noreferrer">${formatMessage(messages.toBank.go, { bank })}</a></p>`;
}

export function pendingScreen(context: RenderContext, { payin }: PagePayin): SafeHtml {
  const { messages } = context;
  const page = payin.source.rail === 'PSE' ? payin.source.page : null;
  const cus = page?.cus ?? null;
  return html`${CLOCK}<h1>${messages.pending.title}</h1><p>${messages.pending.about}</p>
<dl>${cus !== null && html`<dt>${messages.cus}</dt><dd>${cus}</dd>`}<dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.createdAt, messages.language)}</dd></dl>
${page && html`<p><a class="button quiet" href="${page.url}" rel="noreferrer">${messages.pending.again}</a></p>`}${support(context)}`;
}

export function underpaidScreen(context: RenderContext, { payin, suspended }: PagePayin): SafeHtml {
  const { messages, path, state } = context;
  const canRetry = state.link !== null && state.link.status === 'PENDING' && state.link.closesAt > state.now;
  const values = { paid: moneyText(payin.confirmedAmount ?? 0n), amount: moneyText(payin.amount) };
  const money = suspended.find(({ kind }) => kind === 'underpaid')?.state ?? 'held';
  return html`${CLOCK}<h1>${formatMessage(messages.underpaid.title, values)}</h1><p>${messages.underpaid.about} ${formatShopMessage(context, messages.suspended[money])}</p>
<p>${formatShopMessage(context, messages.underpaid.ask)}</p>
<dl><dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, messages.language)}</dd></dl>
${canRetry && html`<p><a class="button quiet" href="${path}?again=1">${messages.underpaid.again}</a></p>`}${back(context, false)}`;
}

/** A decline without an errorCode has no known reason. */
export function declineReason(messages: Messages, { payin }: PagePayin): string {
  return messages.reasons[payin.errorCode ?? 'RAIL_REJECTED'];
}

export function endedScreen(
  context: RenderContext,
  texts: { readonly title: string; readonly nothing: string; readonly again: string; readonly other: string },
  reason: string | null,
  { payin }: PagePayin,
): SafeHtml {
  const { state, path } = context;
  const title = html`${CROSS}<h1>${texts.title}</h1>${reason !== null && html`<p>${reason}</p>`}<p><strong>${texts.nothing}</strong></p>`;
  // A payin without a link cannot be retried; a link can be until it expires.
  if (state.link === null) return html`${title}${back(context, true)}${support(context)}`;
  const hasOtherMethods = state.link.rail === null && state.shop.organization.rails.size > 1;
  return html`${title}<p><a class="button" href="${path}?m=${payin.source.rail}">${texts.again}</a></p>
${hasOtherMethods && html`<p><a class="button quiet" href="${path}?again=1">${texts.other}</a></p>`}${back(context, false)}${support(context)}`;
}
