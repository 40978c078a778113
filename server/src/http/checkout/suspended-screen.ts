import { html, type SafeHtml } from '../html.ts';
import { CROSS } from './icons.ts';
import type { Messages } from './messages.ts';
import type { RenderContext } from './render-context.ts';
import { formatShopMessage } from './shop-contact.ts';

/** Nothing can be paid here. Without a way back to the shop: the operator may have suspended it for fraud. */
export function suspendedScreen(context: RenderContext): SafeHtml {
  const texts = context.messages.identity.suspended;
  return html`${CROSS}<h1>${texts.title}</h1><p>${formatShopMessage(context, texts.about)}</p>
<p><strong>${texts.paidTitle}</strong> ${texts.paid}</p><p><strong>${texts.keyTitle}</strong> ${formatShopMessage(context, texts.key)}</p>`;
}

/** Warns a payer whose attempt was open when the operator suspended the shop: a key given before can still be paid. */
export function suspendedWarning(messages: Messages): SafeHtml {
  const texts = messages.identity.suspended;
  return html`<p class="warning"><strong>${texts.warningTitle}</strong> ${texts.warning}</p>`;
}
