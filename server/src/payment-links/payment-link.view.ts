import type { SecretKey } from '../kit/crypto.ts';
import type { EncryptedTokens } from '../kit/encrypted-token.ts';
import { pesos } from '../kit/money.ts';
import type { PaymentLink } from './payment-link.ts';
import { verificationCode } from './verification-code.ts';

export interface LinkViewDeps {
  readonly cell: number;
  readonly checkoutUrl: string;
  readonly linkTokens: EncryptedTokens;
}

/** The merchant of a link. */
interface LinkOwner {
  readonly organization: { readonly number: number };
  readonly secrets: { readonly hashKey: SecretKey };
}

/** URL of the payer's page. It contains an encrypted token, not the id. */
export function paymentLinkUrl(
  deps: LinkViewDeps,
  organizationNumber: number,
  { id }: Pick<PaymentLink, 'id'>,
): string {
  return `${deps.checkoutUrl}/l/${deps.linkTokens.make({ organizationNumber, id }, deps.cell)}`;
}

/** The payment link object of the API; members keep the documented order. */
export function linkView(deps: LinkViewDeps, organizationNumber: number, link: PaymentLink) {
  return {
    paymentLinkId: link.id,
    paymentLinkUrl: paymentLinkUrl(deps, organizationNumber, link),
    status: link.status,
    createdAt: link.createdAt.toISOString(),
    expiresAt: link.expiresAt.toISOString(),
    rail: link.rail,
    inlineCustomer: link.customer,
    metadata: link.metadata ?? {},
  };
}

/** The payment link object with all request fields and the outcome. */
export function linkDetailsView(deps: LinkViewDeps, { organization, secrets }: LinkOwner, link: PaymentLink) {
  return {
    ...linkView(deps, organization.number, link),
    reference: link.reference,
    amount: pesos(link.amount),
    amountInCents: Number(link.amount),
    paidAmount: pesos(link.paid),
    paidAmountInCents: Number(link.paid),
    currency: 'COP' as const,
    description: link.description,
    callbackUrl: link.callbackUrl,
    completedAt: link.completedAt?.toISOString() ?? null,
    payinId: link.payinId,
    verificationCode: verificationCode(secrets.hashKey, link.id),
  };
}
