import { type Cents, pesos } from '../kit/money.ts';
import type { Balances } from './balance.store.ts';

/** The balance object of the interface, members in its order. */
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

/** A sum of many amounts may be more than a number of JSON holds; a wrong balance is worse than none. */
function exactNumber(amount: Cents): number {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError(`${amount} cents are no exact number`);
  return Number(amount);
}
