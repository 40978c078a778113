import { COUNTED_DAYS, type CompletedPayments } from '../../flows/payment-links/completed-payments.ts';
import type { Shop } from '../../organizations/shops.ts';
import { html, type SafeHtml } from '../html.ts';
import { legalText } from './brand.ts';
import { bogotaTime } from './format.ts';
import { formatMessage, type Messages } from './messages.ts';

export interface AuthenticityFacts {
  readonly shop: Shop;
  /** Name of the operator. */
  readonly operator: string;
  readonly createdAt: Date;
  /** Host of the checkout pages. */
  readonly host: string;
  readonly payments: CompletedPayments;
  /** Null for a payin without a link. */
  readonly code: string | null;
}

/** Answers "is this charge real?" with facts that the service has recorded, and says what it cannot confirm. */
export function authenticity(messages: Messages, facts: AuthenticityFacts): SafeHtml {
  const { shop, operator, createdAt, host, code } = facts;
  const texts = messages.identity.authenticity;
  const row = (label: string, value: string, note: string | null = null) =>
    html`<dt>${label}</dt><dd>${value}${note !== null && html`<small>${note}</small>`}</dd>`;
  const payments = paymentsText(messages, facts);
  return html`<details class="authenticity"><summary>${texts.title}</summary><p>${formatMessage(texts.about, { operator })}</p>
<dl>${row(texts.shop, legalText(shop.organization) ?? shop.organization.name, formatMessage(identityNote(messages, shop), { operator }))}
${row(texts.since, dayText(shop.identity.createdAt, messages.language))}
${payments !== null && row(formatMessage(texts.payments, { days: String(COUNTED_DAYS) }), payments)}
${row(texts.created, bogotaTime(createdAt, messages.language))}
${row(texts.host, host, texts.hostNote)}
${code !== null && row(texts.code, code, texts.codeNote)}</dl><p>${formatMessage(texts.limits, { operator })}</p></details>`;
}

function identityNote(messages: Messages, { organization, identity }: Shop): string {
  const texts = messages.identity.authenticity;
  if (identity.verifiedAt !== null) return texts.verified;
  return legalText(organization) === null ? texts.unrecorded : texts.unverified;
}

function paymentsText(messages: Messages, { payments }: AuthenticityFacts): string | null {
  const texts = messages.identity.authenticity;
  if (payments.kind === 'unknown') return null;
  if (payments.kind === 'at_most_ten') return texts.atMostTen;
  const count = new Intl.NumberFormat('es-CO', { useGrouping: true }).format(payments.count);
  return formatMessage(texts.moreThan, { count });
}

function dayText(at: Date, language: string): string {
  return new Intl.DateTimeFormat(language, { timeZone: 'America/Bogota', dateStyle: 'long' }).format(at);
}
