import { pesos } from '../kit/money.ts';
import type { Payin } from './payin.ts';
import { checkoutUrl, type ViewDeps } from './payin.view.ts';

/** `data` of a payin's events. It omits the QR image, which can be rendered from the payin at any time. */
export function payinEventData(
  deps: Pick<ViewDeps, 'cell' | 'checkoutUrl' | 'checkoutTokens'>,
  organizationNumber: number,
  payin: Payin,
): object {
  return {
    id: payin.id,
    reference: payin.reference,
    amount: pesos(payin.amount),
    amountInCents: Number(payin.amount),
    confirmedAmount: payin.confirmedAmount === null ? null : pesos(payin.confirmedAmount),
    confirmedAmountInCents: payin.confirmedAmount === null ? null : Number(payin.confirmedAmount),
    currency: 'COP',
    status: payin.status,
    rail: payin.source.rail,
    sourceData: sourceData(deps, organizationNumber, payin),
    errorCode: payin.errorCode,
    createdAt: payin.createdAt.toISOString(),
    updatedAt: payin.updatedAt.toISOString(),
    resultAt: payin.resultAt?.toISOString() ?? null,
    organizationId: payin.organizationId,
  };
}

function sourceData(
  deps: Pick<ViewDeps, 'cell' | 'checkoutUrl' | 'checkoutTokens'>,
  organizationNumber: number,
  { id, source, endToEndId }: Payin,
): object {
  return source.rail === 'BRE_B'
    ? {
        keyType: source.keyType,
        keyString: source.key,
        checkoutUrl: checkoutUrl(deps, organizationNumber, id),
        endToEndId,
      }
    : { pseUrl: source.page?.url ?? null, bank: source.bank, cus: source.page?.cus ?? null };
}
