import { type Cents, pesos } from '../kit/money.ts';
import type { Balances } from './balance.store.ts';

/** The balance object of the API, fields in documented order. */
export function balanceView({ amounts, updatedAt }: Balances) {
  return {
    currency: 'COP' as const,
    available: pesos(amounts.available),
    availableInCents: exactNumber(amounts.available),
    pending: pesos(amounts.pending),
    pendingInCents: exactNumber(amounts.pending),
    held: pesos(amounts.held),
    heldInCents: exactNumber(amounts.held),
    updatedAt: updatedAt.toISOString(),
  };
}

/** A sum can exceed the safe integer range of JSON numbers. An error is better than a wrong balance. */
function exactNumber(amount: Cents): number {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER))
    throw new RangeError(`${amount} cents exceed the safe integer range`);
  return Number(amount);
}
