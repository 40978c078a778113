import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { brebQr } from '../../payins/breb-qr.ts';
import { html, type SafeHtml } from '../html.ts';
import { groupedKey, moneyText } from './format.ts';
import { formatMessage, type Messages } from './messages.ts';
import type { RenderContext } from './render-context.ts';

export function keyScreen(context: RenderContext, { payin }: PagePayin): SafeHtml {
  const { messages, shop, state, qrNetwork, path } = context;
  if (payin.source.rail !== 'BRE_B') throw new Error('payin is not on the Bre-B rail');
  const { key } = payin.source;
  const amount = moneyText(payin.amount);
  const secondsLeft = Math.max(0, Math.round((payin.expiresAt.getTime() - state.now.getTime()) / 1000));
  const qr = html`<img class="qr" width="240" height="240" alt="${formatMessage(messages.breb.qr, { amount })}" src="${brebQr(qrNetwork, shop.organization, payin, key)}">`;
  const steps = messages.breb.steps as unknown as readonly string[];
  const copy = html`<p><button class="button" type="button" data-copy="${key}" data-copied="${messages.breb.copied}" hidden>${messages.breb.copy}</button></p>`;
  const keyText = html`<p class="key" data-key="${key}">${groupedKey(key)}</p>`;
  // A phone cannot scan its own screen, so it shows the key first. The style sheet selects one of the two variants.
  return html`<div class="on-phone"><h1>${messages.breb.title}</h1>${keyText}${copy}
<ol class="steps">${steps.map((step) => html`<li>${formatMessage(step, { amount })}</li>`)}</ol>
<details class="qr-box"><summary>${messages.breb.showQr}</summary>${qr}</details></div>
<div class="on-desktop"><h1>${messages.breb.scan}</h1>${qr}${keyText}${copy}</div>
<section class="waiting" aria-label="${messages.waiting.title}"><p class="pulse"><strong>${messages.waiting.title}</strong></p><p>${messages.waiting.about}</p>
<p data-left="${secondsLeft}" data-over="${messages.waiting.over}" data-minute="${messages.waiting.minute}" data-minutes="${messages.waiting.minutes}">${timeLeft(messages, secondsLeft)}</p></section>
${state.link && state.link.rail === null && html`<form method="post" action="${path}/change"><button class="link">${messages.breb.other}</button></form>`}`;
}

/** The time is in its own element: the script updates only that. */
function timeLeft(messages: Messages, seconds: number): SafeHtml {
  const [before = '', after = ''] = messages.waiting.left.split('{time}');
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return html`${before}<span class="time">${time}</span>${after}`;
}
