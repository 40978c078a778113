import { pesos } from '../kit/money.ts';
import type { Payout } from './payout.ts';

/** The payout object of the API, fields in documented order. */
export function payoutView(payout: Payout) {
  return {
    id: payout.id,
    amount: pesos(payout.amount),
    amountInCents: Number(payout.amount),
    currency: 'COP' as const,
    status: payout.status,
    rail: 'BRE_B' as const,
    reference: payout.reference,
    inlineCustomer: payout.customer,
    errorCode: payout.errorCode,
    createdAt: payout.createdAt.toISOString(),
    updatedAt: payout.updatedAt.toISOString(),
    resultAt: payout.resultAt?.toISOString() ?? null,
    organizationId: payout.organizationId,
    sourceData: { keyString: payout.brebKey, endToEndId: payout.endToEndId },
    metadata: payout.metadata ?? {},
  };
}
