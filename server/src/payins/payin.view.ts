import type { EncryptedTokens } from '../kit/encrypted-token.ts';
import { pesos } from '../kit/money.ts';
import { brebQr, type QrMerchant } from './breb-qr.ts';
import type { Payin } from './payin.ts';

export interface ViewDeps {
  readonly cell: number;
  readonly checkoutUrl: string;
  readonly checkoutTokens: EncryptedTokens;
  readonly qrNetwork: { readonly network: string; readonly networkId: string };
}

export interface ViewOwner extends QrMerchant {
  readonly number: number;
}

/** The URL of the payin's checkout page. It contains an encrypted token instead of the id. */
export function checkoutUrl(
  deps: Pick<ViewDeps, 'cell' | 'checkoutUrl' | 'checkoutTokens'>,
  organizationNumber: number,
  payinId: string,
): string {
  return `${deps.checkoutUrl}/p/${deps.checkoutTokens.make({ organizationNumber, id: payinId }, deps.cell)}`;
}

/** The payin object of the API, with the fields in the documented order. */
export function payinView(deps: ViewDeps, owner: ViewOwner, payin: Payin) {
  return {
    id: payin.id,
    amount: pesos(payin.amount),
    amountInCents: Number(payin.amount),
    confirmedAmount: payin.confirmedAmount === null ? null : pesos(payin.confirmedAmount),
    confirmedAmountInCents: payin.confirmedAmount === null ? null : Number(payin.confirmedAmount),
    currency: 'COP' as const,
    status: payin.status,
    settlementStatus: payin.settlementStatus,
    rail: payin.source.rail,
    reference: payin.reference,
    paymentLinkId: payin.paymentLinkId,
    inlineCustomer: payin.customer,
    errorCode: payin.errorCode,
    createdAt: payin.createdAt.toISOString(),
    updatedAt: payin.updatedAt.toISOString(),
    expiresAt: payin.expiresAt.toISOString(),
    resultAt: payin.resultAt?.toISOString() ?? null,
    chargebackAt: payin.chargebackAt?.toISOString() ?? null,
    organizationId: payin.organizationId,
    sourceData: sourceData(deps, owner, payin),
    callbackUrl: payin.callbackUrl,
    metadata: payin.metadata ?? {},
  };
}

/** In lists, `inlineCustomer` is the JSON text of the object: the API contract requires it. */
export function payinListView(deps: ViewDeps, owner: ViewOwner, payin: Payin) {
  return {
    ...payinView(deps, owner, payin),
    inlineCustomer: payin.customer === null ? null : JSON.stringify(payin.customer),
  };
}

function sourceData(deps: ViewDeps, owner: ViewOwner, payin: Payin) {
  const page = () => checkoutUrl(deps, owner.number, payin.id);
  const { source } = payin;
  if (source.rail === 'BRE_B') {
    const { keyType, key: keyString } = source;
    const { endToEndId } = payin;
    if (keyType === 'SINGLE_USE') return { keyType, keyString, checkoutUrl: page(), endToEndId };
    return {
      keyType,
      keyString,
      qrString: brebQr(deps.qrNetwork, owner, payin, keyString),
      checkoutUrl: page(),
      endToEndId,
    };
  }
  // Until the payer has entered the details that PSE requires, `pseUrl` is our checkout page.
  const awaitingDetails = payin.customer === null && payin.status === 'PENDING';
  const pseUrl = source.page?.url ?? (awaitingDetails ? page() : null);
  return { pseUrl, bank: source.bank, cus: source.page?.cus ?? null };
}
