import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { brebQrImage } from '../../payins/breb-qr.ts';
import { html, type SafeHtml } from '../html.ts';
import { moneyText } from './format.ts';
import { formatMessage, type Messages } from './messages.ts';
import type { RenderContext } from './render-context.ts';

/**
 * The key, the steps and the QR code. A phone cannot scan its own screen, so the style sheet puts the key first on touch
 * devices and the QR code first elsewhere. There are no buttons that open bank apps: no bank in Colombia documents a
 * public URL scheme for Bre-B payments (decision 0041).
 */
export function keyScreen(context: RenderContext, { payin }: PagePayin): SafeHtml {
  const { messages, shop, qrNetwork, path, offeredRails } = context;
  if (payin.source.rail !== 'BRE_B') throw new Error('payin is not on the Bre-B rail');
  const { key } = payin.source;
  const { breb } = messages;
  const amount = moneyText(payin.amount);
  const { src, width } = brebQrImage(qrNetwork, shop.organization, payin, key);
  const shareText = formatMessage(breb.shareText, { amount, shop: shop.organization.name, key });
  return html`<div class="touch-only"><h1>${breb.title}</h1></div><div class="mouse-only"><h1>${breb.scan}</h1></div>
${waiting(context, payin.expiresAt)}
<div class="pay"><div><p class="key" data-key="${key}">${keyGroups(key)}</p>
<p><button class="button" type="button" data-copy="${key}" data-copied="${breb.copied}" hidden>${breb.copy}</button></p>
${steps(context, payin.amount)}</div>
<div class="pay-qr"><img class="qr" width="${width}" height="${width}" alt="${formatMessage(breb.qr, { amount })}" src="${src}">
<p class="pair"><a class="button quiet" href="${path}/qr.png" download="bre-b.png">${breb.saveQr}</a>
<button class="button quiet" type="button" data-share="${path}/qr.png" data-share-text="${shareText}" hidden>${breb.shareQr}</button></p></div></div>
${offeredRails.length > 1 && html`<form method="post" action="${path}/change"><button class="link">${breb.other}</button></form>`}`;
}

/** The payer types the amount, because a key does not carry it, and compares the recipient that the bank app shows. */
function steps({ messages, brebReceiverName }: RenderContext, cents: bigint): SafeHtml {
  const { steps: texts, copyAmount, amountCopied } = messages.breb;
  const [before = '', after = ''] = texts.receiver.split('{receiver}');
  return html`<ol class="steps"><li>${texts.open}</li><li class="touch-only">${texts.paste}</li><li class="mouse-only">${texts.scanCode}</li>
<li>${formatMessage(texts.amount, { amount: moneyText(cents) })} <button class="button quiet inline" type="button" data-copy="${plainAmount(cents)}" data-copied="${amountCopied}" hidden>${copyAmount}</button></li>
<li>${before}<strong>${brebReceiverName}</strong>${after}</li></ol>`;
}

/** Groups of four without spaces: the style sheet separates them, so that a key copied by hand is exact. */
function keyGroups(key: string): SafeHtml[] {
  const groups = key.match(/^@?.{1,4}|.{1,4}/g) ?? [];
  return groups.map((group, index) => html`${index > 0 && html`<wbr>`}<span>${group}</span>`);
}

/** `49800` or `49800,50`, as bank apps accept it. */
function plainAmount(cents: bigint): string {
  return moneyText(cents).replace(/[^\d,]/g, '');
}

function waiting({ messages, state }: RenderContext, expiresAt: Date): SafeHtml {
  const secondsLeft = Math.max(0, Math.round((expiresAt.getTime() - state.now.getTime()) / 1000));
  const { waiting: texts } = messages;
  return html`<section class="waiting" aria-label="${texts.title}"><p class="pulse"><strong>${texts.title}</strong></p>
<p><span data-left="${secondsLeft}" data-over="${texts.over}" data-minute="${texts.minute}" data-minutes="${texts.minutes}">${timeLeft(messages, secondsLeft)}</span>. ${texts.about}</p></section>`;
}

/** The time is in its own element: the script updates only that. */
function timeLeft(messages: Messages, seconds: number): SafeHtml {
  const [before = '', after = ''] = messages.waiting.left.split('{time}');
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return html`${before}<span class="time">${time}</span>${after}`;
}
