import { pesos } from '../kit/money.ts';
import type { Payin, PayinSource } from './payin.ts';
import { checkoutUrl, type ViewDeps } from './payin.view.ts';

/**
 * `data` of a payin's events; its schema is in http/api/event-data.schema.ts. It omits the QR image, which can be rendered
 * from the payin at any time.
 */
export function payinEventData(
  deps: Pick<ViewDeps, 'cell' | 'checkoutUrl' | 'checkoutTokens'>,
  organizationNumber: number,
  payin: Payin,
) {
  const { source } = payin;
  return {
    id: payin.id,
    reference: payin.reference,
    amount: pesos(payin.amount),
    amountInCents: Number(payin.amount),
    confirmedAmount: payin.confirmedAmount === null ? null : pesos(payin.confirmedAmount),
    confirmedAmountInCents: payin.confirmedAmount === null ? null : Number(payin.confirmedAmount),
    currency: 'COP' as const,
    status: payin.status,
    rail: source.rail,
    sourceData:
      source.rail === 'BRE_B'
        ? brebSource(source, checkoutUrl(deps, organizationNumber, payin.id), payin.endToEndId)
        : pseSource(source),
    errorCode: payin.errorCode,
    createdAt: payin.createdAt.toISOString(),
    updatedAt: payin.updatedAt.toISOString(),
    resultAt: payin.resultAt?.toISOString() ?? null,
    organizationId: payin.organizationId,
    metadata: payin.metadata ?? {},
  };
}

type BrebSource = Extract<PayinSource, { rail: 'BRE_B' }>;
type PseSource = Exclude<PayinSource, BrebSource>;

function brebSource({ keyType, key }: BrebSource, page: string, endToEndId: string | null) {
  return { keyType, keyString: key, checkoutUrl: page, endToEndId };
}

function pseSource({ page, bank }: PseSource) {
  return { pseUrl: page?.url ?? null, bank, cus: page?.cus ?? null };
}
