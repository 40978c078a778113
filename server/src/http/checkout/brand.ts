import { formatTaxId } from '../../kit/tax-id.ts';
import type { Shop } from '../../organizations/shops.ts';
import { html, type SafeHtml } from '../html.ts';
import { initials, moneyText } from './format.ts';
import type { Page } from './layout.ts';
import { formatMessage, type Messages } from './messages.ts';

/** The operator of this deployment as payers see it. */
export interface OperatorIdentity {
  readonly name: string;
  readonly legalName: string | null;
  readonly taxId: string | null;
  /** Contact for payers, in the form of a shop's support contact. */
  readonly support: string | null;
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
}

/** Who charges how much for what: the same on every screen. */
export function shopHeader(
  { organization }: Shop,
  messages: Messages,
  { amount, reference, description }: Page,
): SafeHtml {
  const identity = legalText(organization);
  return html`<header><p class="shop"><span class="disc" aria-hidden="true">${initials(organization.name)}</span><strong>${organization.name}</strong></p>
${identity !== null && html`<p class="legal">${formatMessage(messages.identity.chargedBy, { identity })}</p>`}
${amount !== null && html`<p class="amount">${moneyText(amount)} <small>COP</small></p>`}
${description !== null && html`<p class="about">${description}</p>`}
${reference !== null && html`<p class="reference">${messages.reference} ${reference}</p>`}</header>`;
}

/** The operator's legal line in the footer; null when the operator configured nothing. */
export function operatorLine(messages: Messages, operator: OperatorIdentity): SafeHtml | null {
  const identity = legalText(operator);
  const texts = messages.identity;
  const link = (url: string | null, label: string) =>
    url !== null && html` · <a href="${url}" rel="noreferrer">${label}</a>`;
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
