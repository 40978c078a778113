import { html, type SafeHtml } from '../html.ts';
import { formatMessage } from './messages.ts';
import type { RenderContext } from './render-context.ts';

export function formatShopMessage({ shop: { organization } }: RenderContext, text: string): string {
  return formatMessage(text, { shop: organization.name, contact: organization.supportContact });
}

export function support(context: RenderContext): SafeHtml {
  return html`<p class="support">${formatShopMessage(context, context.messages.support)}</p>`;
}

/**
 * Link to the merchant's callback URL, unchanged, with its host visible.
 * @param redirect whether the script follows the link automatically
 */
export function back(context: RenderContext, redirect: boolean): SafeHtml | null {
  const { messages, state } = context;
  const url = state.link?.callbackUrl ?? state.attempt?.payin.callbackUrl ?? null;
  if (url === null) return null;
  return html`<p><a class="button${!redirect && ' quiet'}" href="${url}" rel="noreferrer"${redirect && html` data-return`}>${formatShopMessage(context, messages.back)}</a>
<small class="host">${formatMessage(messages.backHost, { host: new URL(url).host })}${redirect && html`<span data-soon hidden> · ${messages.backSoon}</span>`}</small></p>`;
}
