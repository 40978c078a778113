import { pesos } from '../kit/money.ts';
import type { Payout } from './payout.ts';

/** `data` of a payout's events; its schema is in http/api/event-data.schema.ts. */
export function payoutEventData(payout: Payout) {
  return {
    id: payout.id,
    reference: payout.reference,
    amount: pesos(payout.amount),
    amountInCents: Number(payout.amount),
    currency: 'COP' as const,
    status: payout.status,
    rail: 'BRE_B' as const,
    sourceData: { keyString: payout.brebKey, endToEndId: payout.endToEndId },
    errorCode: payout.errorCode,
    createdAt: payout.createdAt.toISOString(),
    updatedAt: payout.updatedAt.toISOString(),
    resultAt: payout.resultAt?.toISOString() ?? null,
    organizationId: payout.organizationId,
    metadata: payout.metadata ?? {},
  };
}
