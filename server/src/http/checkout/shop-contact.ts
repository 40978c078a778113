import { html, type SafeHtml } from '../html.ts';
import type { BrandPage, OperatorIdentity } from './brand-types.ts';
import { contactLinks } from './contact-links.ts';
import { formatMessage, type Messages } from './messages.ts';
import type { RenderContext } from './render-context.ts';

export function formatShopMessage({ shop: { organization } }: RenderContext, text: string): string {
  return formatMessage(text, { shop: organization.name, contact: organization.supportContact });
}

/** What helps a payer in doubt, in the same place on every page (WCAG 3.2.6). */
export function assistance(messages: Messages, page: BrandPage, operator: OperatorIdentity): SafeHtml | null {
  const help = helpLine(messages, page, operator);
  if (!help && !page.authenticity) return null;
  return html`<section aria-label="${messages.identity.help.title}">${page.authenticity}${help}</section>`;
}

/** The contact of the shop, or of the operator when there is no shop or the operator has suspended it. */
function helpLine(
  messages: Messages,
  { shop, reference }: BrandPage,
  operator: OperatorIdentity,
): SafeHtml | null {
  const texts = messages.identity.help;
  const organization = shop?.organization.suspended ? null : (shop?.organization ?? null);
  const contact = organization ? organization.supportContact : operator.support;
  if (contact === null) return null;
  const topic = reference === null ? null : formatMessage(texts.topic, { reference });
  const links = contactLinks(contact, topic).map(({ kind, text, href }) =>
    href === null
      ? html`<span>${text}</span>`
      : html`<a href="${href}" rel="noreferrer">${formatMessage(texts[kind], { contact: text })}</a>`,
  );
  return html`<p class="help"><span>${formatMessage(texts.from, { name: organization?.name ?? operator.name })}</span> ${links}</p>`;
}

/**
 * Link to the merchant's callback URL, unchanged, with its host visible.
 * @param redirect whether the script follows the link after 30 s without input; the payer can stop it
 */
export function back(context: RenderContext, redirect: boolean): SafeHtml | null {
  const { messages, state } = context;
  const url = state.link?.callbackUrl ?? state.attempt?.payin.callbackUrl ?? null;
  if (url === null) return null;
  const { soon, stay } = messages.leaving;
  return html`<p><a class="button${!redirect && ' quiet'}" href="${url}" rel="noreferrer"${redirect && html` data-return`}>${formatShopMessage(context, messages.back)}</a>
<small class="host">${formatMessage(messages.backHost, { host: new URL(url).host })}</small></p>
${redirect && html`<p class="leaving" data-leaving="${formatShopMessage(context, soon)}" hidden><span></span> <button class="link" type="button" data-stay>${stay}</button></p>`}`;
}
