import { html, type SafeHtml } from '../html.ts';
import { masked } from './format.ts';
import { ARROW } from './icons.ts';
import type { RenderContext } from './render-context.ts';

export function methodScreen({ messages, path }: RenderContext): SafeHtml {
  const row = (rail: string, name: string, about: string) =>
    html`<li><a class="row" href="${path}?m=${rail}"><span><strong>${name}</strong><span>${about}</span></span>${ARROW}</a></li>`;
  return html`<h1>${messages.method.title}</h1><ul class="rows">
${row('BRE_B', messages.method.breb, messages.method.brebAbout)}
${row('PSE', messages.method.pse, messages.method.pseAbout)}</ul>`;
}

/** Only one method and no missing data. */
export function startScreen(context: RenderContext): SafeHtml {
  const { start } = context.messages;
  return html`<h1>${start.title}</h1><p>${start.about}</p>${maskedPayer(context)}${startForm(context, start.go)}`;
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
