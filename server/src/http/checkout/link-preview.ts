import { html, type SafeHtml } from '../html.ts';
import { logoUrl } from './brand-images.ts';
import type { BrandFrame, BrandPage } from './brand-types.ts';
import { moneyText } from './format.ts';
import { formatMessage, type Messages } from './messages.ts';

/** Metadata from which chat apps build the preview of a link: who charges, how much and for what. */
export function linkPreview(
  messages: Messages,
  { checkoutUrl, operator }: BrandFrame,
  { title, shop, amount, description, reference }: BrandPage,
): SafeHtml | null {
  // A suspended shop must not look like one that can be paid.
  if (!shop || shop.organization.suspended) return null;
  const about = [amount === null ? null : moneyText(amount), description ?? reference ?? title];
  const image = logoUrl(shop, 'preview', checkoutUrl);
  return html`
<meta property="og:type" content="website"><meta property="og:site_name" content="${operator.name}">
<meta property="og:title" content="${formatMessage(messages.identity.preview, { shop: shop.organization.name })}">
<meta property="og:description" content="${about.filter((part) => part !== null).join(' · ')}">
<meta name="twitter:card" content="summary">${image !== null && html`<meta property="og:image" content="${image}">`}`;
}
