import { formatTaxId } from '../../kit/tax-id.ts';
import type { Shop } from '../../organizations/shops.ts';
import { html, type SafeHtml } from '../html.ts';
import { accentColor, initialIcon, logoUrl } from './brand-images.ts';
import type { BrandFrame, BrandPage, OperatorIdentity } from './brand-types.ts';
import { initials, moneyText } from './format.ts';
import { linkPreview } from './link-preview.ts';
import { formatMessage, type Messages } from './messages.ts';
import { suspendedWarning } from './suspended-screen.ts';

/** Who charges how much for what: the same on every screen. */
export function shopHeader(
  shop: Shop,
  messages: Messages,
  { amount, reference, description, live }: BrandPage,
  { checkoutUrl }: Pick<BrandFrame, 'checkoutUrl'>,
): SafeHtml {
  const { organization } = shop;
  const identity = legalText(organization);
  const logo = logoUrl(shop, 'header', pathPrefix(checkoutUrl));
  return html`<header><p class="shop">${logo === null ? html`<span class="disc" aria-hidden="true">${initials(organization.name)}</span>` : html`<img class="disc" src="${logo}" width="40" height="40" alt="">`}<strong>${organization.name}</strong></p>
${identity !== null && html`<p class="legal">${formatMessage(messages.identity.chargedBy, { identity })}</p>`}
${amount !== null && html`<p class="amount">${moneyText(amount)} <small>COP</small></p>`}
${description !== null && html`<p class="about">${description}</p>`}
${reference !== null && html`<p class="reference">${messages.reference} ${reference}</p>`}
${organization.suspended && live !== null && suspendedWarning(messages)}</header>`;
}

/** Icon and color for the browser, and the preview for chat apps. */
export function brandMetadata(messages: Messages, frame: BrandFrame, page: BrandPage): SafeHtml {
  const { shop } = page;
  const icon = shop && logoUrl(shop, 'icon', pathPrefix(frame.checkoutUrl));
  return html`<meta name="theme-color" content="${accentColor(shop)}">
<link rel="icon" href="${icon ?? `data:image/svg+xml,${encodeURIComponent(initialIcon(shop))}`}">${linkPreview(messages, frame, page)}`;
}

function pathPrefix(checkoutUrl: string): string {
  return new URL(checkoutUrl).pathname.replace(/\/$/, '');
}

/** The operator's legal line in the footer; null when the operator configured nothing. */
export function operatorLine(messages: Messages, operator: OperatorIdentity): SafeHtml | null {
  const identity = legalText(operator);
  const texts = messages.identity;
  const link = (url: string | null, label: string) =>
    url !== null && html`<a href="${url}" rel="noreferrer">${label}</a>`;
  if (identity === null && operator.termsUrl === null && operator.privacyUrl === null) return null;
  return html`<p class="legal"><span>${formatMessage(texts.operatedBy, { identity: identity ?? operator.name })}</span>${link(operator.termsUrl, texts.terms)}${link(operator.privacyUrl, texts.privacy)}</p>`;
}

/** `Aurora S.A.S. · NIT 900.123.456-8`, or the part that is recorded; null if neither is. */
export function legalText({
  legalName,
  taxId,
}: Pick<OperatorIdentity, 'legalName' | 'taxId'>): string | null {
  const parts = [legalName, taxId === null ? null : `NIT ${formatTaxId(taxId)}`];
  return parts.filter((part) => part !== null).join(' · ') || null;
}
