import { pesos } from '../kit/money.ts';
import type { PaymentLink } from './payment-link.ts';

/** `data` of a link's events, as the interface shows it: a completed one no longer expires, an expired one is not completed. */
export function linkEventData(link: PaymentLink): object {
  return {
    paymentLinkId: link.id,
    reference: link.reference,
    amount: pesos(link.amount),
    currency: 'COP',
    status: link.status,
    createdAt: link.createdAt.toISOString(),
    updatedAt: link.updatedAt.toISOString(),
    expiresAt: link.status === 'COMPLETED' ? null : link.expiresAt.toISOString(),
    completedAt: link.completedAt?.toISOString() ?? null,
  };
}
