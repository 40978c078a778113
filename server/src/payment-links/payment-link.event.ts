import { pesos } from '../kit/money.ts';
import type { PaymentLink } from './payment-link.ts';

/**
 * `data` of a link's events; its schema is in http/api/event-data.schema.ts. A completed link has no `expiresAt`; an
 * expired link has no `completedAt`.
 */
export function linkEventData(link: PaymentLink) {
  return {
    paymentLinkId: link.id,
    reference: link.reference,
    amount: pesos(link.amount),
    currency: 'COP' as const,
    status: link.status,
    createdAt: link.createdAt.toISOString(),
    updatedAt: link.updatedAt.toISOString(),
    expiresAt: link.status === 'COMPLETED' ? null : link.expiresAt.toISOString(),
    completedAt: link.completedAt?.toISOString() ?? null,
    metadata: link.metadata ?? {},
  };
}
