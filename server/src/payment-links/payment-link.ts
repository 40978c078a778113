import { emptyFields, type FieldsOf } from '../db/columns.ts';
import { cents } from '../kit/money.ts';
import { ATTEMPT_COLUMNS, type LINK_COLUMNS } from './payment-link.columns.ts';

/** A hosted page where a payer pays one amount, with a method of their choice unless the merchant fixed it. */
export interface PaymentLink extends FieldsOf<typeof LINK_COLUMNS> {}

const NO_ATTEMPT = emptyFields(ATTEMPT_COLUMNS);

/** The link as returned at creation, also for a replayed request: never a later state. */
export function asCreated(
  link: Omit<PaymentLink, keyof typeof NO_ATTEMPT | 'status' | 'updatedAt' | 'closesAt' | 'paid'>,
): PaymentLink {
  const { createdAt: updatedAt, expiresAt: closesAt } = link;
  return { ...link, ...NO_ATTEMPT, status: 'PENDING', updatedAt, closesAt, paid: cents(0n) };
}
