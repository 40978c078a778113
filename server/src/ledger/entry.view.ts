import { pesos } from '../kit/money.ts';
import type { Entry } from './entry.ts';
import type { Account, CauseKind } from './transfer.ts';

const TYPES = {
  payment: 'PAYIN',
  payment_excess: 'CORRECTION',
  payment_reversal: 'CORRECTION',
  payment_relisted: 'PAYIN',
  link_parts: 'PAYIN',
  settlement: 'SETTLEMENT',
  deposit: 'DEPOSIT',
  anomaly: 'CORRECTION',
  payout_hold: 'PAYOUT_HOLD',
  payout_release: 'PAYOUT_RELEASE',
  payout: 'PAYOUT',
  // Between shared accounts: no merchant sees it.
  execution: 'CORRECTION',
  reversal: 'REVERSAL',
} as const satisfies Record<CauseKind, string>;

/** A merchant has three accounts. It sees the purpose of the shared accounts, not their number. */
const NAMES = {
  pending: 'PENDING',
  available: 'AVAILABLE',
  held: 'HELD',
  clearing_bre_b: 'RAIL',
  clearing_pse: 'RAIL',
  fees: 'FEES',
  suspense: 'SUSPENSE',
  treasury: 'TREASURY',
} as const satisfies Record<Account, string>;

export const ENTRY_TYPES = Object.values(TYPES);
export const ENTRY_ACCOUNTS = [...new Set(Object.values(NAMES))];
export const ENTRY_ACCOUNT_FILTER = { AVAILABLE: 'available', PENDING: 'pending', HELD: 'held' } as const;

/** The entry object of the API, fields in documented order. */
export function entryView(entry: Entry) {
  return {
    id: entry.id,
    type: TYPES[entry.causeKind],
    debitAccount: NAMES[entry.debit],
    creditAccount: NAMES[entry.credit],
    amount: pesos(entry.amount),
    amountInCents: Number(entry.amount),
    currency: 'COP' as const,
    resourceId: entry.resourceId,
    createdAt: entry.at.toISOString(),
  };
}
