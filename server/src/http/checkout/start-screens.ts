import { html, type SafeHtml } from '../html.ts';
import { exclusionText } from './decline-texts.ts';
import { masked } from './format.ts';
import { ARROW, PROBLEM } from './icons.ts';
import type { RenderContext } from './render-context.ts';
import { back, formatShopMessage } from './shop-contact.ts';

export function methodScreen({ messages, path }: RenderContext): SafeHtml {
  // The wallets are decoration: the description names them.
  const row = (rail: string, name: string, about: string, wallets: readonly string[] = []) =>
    html`<li><a class="row" href="${path}?m=${rail}"><span><strong class="badge">${name}</strong>${wallets.map((wallet) => html`<b class="badge" aria-hidden="true">${wallet}</b>`)}<span>${about}</span></span>${ARROW}</a></li>`;
  return html`<h1>${messages.method.title}</h1><ul class="rows">
${row('BRE_B', messages.method.breb, messages.method.brebAbout)}
${row('PSE', messages.method.pse, messages.method.pseAbout, ['Nequi', 'Daviplata'])}</ul>`;
}

/** Bre-B is chosen, or the only method. */
export function startScreen(context: RenderContext): SafeHtml {
  const { start } = context.messages;
  return html`<h1>${start.title}</h1><p>${start.about}</p>${exclusionNotes(context)}${maskedPayer(context)}${startForm(context, start.go)}`;
}

/** No method can take the payment. If the amount is the reason, waiting does not help. */
export function unavailableScreen(context: RenderContext): SafeHtml {
  const { messages, excludedRails } = context;
  const { unavailable } = messages;
  const canWait = excludedRails.some(({ reason }) => reason === 'unavailable');
  return html`${PROBLEM}<h1>${canWait ? unavailable.title : unavailable.cannotPay}</h1>${exclusionNotes(context)}
<p>${canWait ? unavailable.about : formatShopMessage(context, unavailable.ask)}</p>${back(context, false)}`;
}

/** Why a method of this shop is not offered for this payment. */
export function exclusionNotes({ messages, excludedRails }: RenderContext): SafeHtml[] {
  return excludedRails.map((excluded) => html`<p class="support">${exclusionText(messages, excluded)}</p>`);
}

/** The payer data sent by the merchant, masked because anyone with the link can read it. */
function maskedPayer({ state: { link } }: RenderContext): SafeHtml | null {
  const customer = link?.customer;
  if (!customer) return null;
  return html`<p class="who">${masked(customer.name, 'name')} · ${masked(customer.idNumber, 'number')}</p>`;
}

function startForm({ path }: RenderContext, label: string): SafeHtml {
  return html`<form method="post" action="${path}/begin"><input type="hidden" name="method" value="BRE_B">
<button class="button">${label}</button></form>`;
}
