import type { SystemDeps } from '../../deps.ts';
import { BOOK_CHECKS, type Totals, totals } from '../../ledger/book-checks.store.ts';
import { type BrokenRow, brokenRows, MOST_BROKEN_ROWS } from '../../ledger/broken-row.store.ts';
import { PAYMENT_CHECKS } from '../../ledger/payment-checks.store.ts';
import { PAYOUT_CHECKS } from '../../ledger/payout-checks.store.ts';

export interface Verification extends Totals {
  readonly broken: readonly BrokenRow[];
  /** Not all that is broken is told. */
  readonly more: boolean;
}

/** Recomputes the books from their transfers and compares them with everything that tells of the same money. */
export async function verifyLedger(deps: Pick<SystemDeps, 'snapshot'>): Promise<Verification> {
  return deps.snapshot.read(async (tx) => {
    const sums = await totals(tx);
    const found = [
      ...imbalance(sums),
      ...(await brokenRows(tx, [...BOOK_CHECKS, ...PAYMENT_CHECKS, ...PAYOUT_CHECKS])),
    ];
    return { ...sums, broken: found.slice(0, MOST_BROKEN_ROWS), more: found.length > MOST_BROKEN_ROWS };
  });
}

function imbalance({ accounts }: Totals): BrokenRow[] {
  const sum = [...accounts.values()].reduce((total, amount) => total + amount, 0n);
  if (sum === 0n) return [];
  const id = 'sum of all accounts';
  return [{ table: 'ledger_balances', organizationId: null, id, expected: '0', found: sum.toString() }];
}
