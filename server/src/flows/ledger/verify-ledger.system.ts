import type { SystemDeps } from '../../deps.ts';
import { BOOK_CHECKS, type Totals, totals } from '../../ledger/book-checks.store.ts';
import { type BrokenRow, findBrokenRows, MAX_BROKEN_ROWS } from '../../ledger/broken-row.store.ts';
import { readMoment, recordVerification, type VerifiedBy } from '../../ledger/ledger-status.store.ts';
import { PAYMENT_CHECKS } from '../../ledger/payment-checks.store.ts';
import { PAYOUT_CHECKS } from '../../ledger/payout-checks.store.ts';

export interface Verification extends Totals {
  /** Real time of the database at the snapshot. */
  readonly at: Date;
  readonly broken: readonly BrokenRow[];
  /** More rows are broken than listed. */
  readonly more: boolean;
}

/** Recomputes the ledger from its transfers and compares it with every table that records the same money. */
export async function verifyLedger(deps: Pick<SystemDeps, 'snapshot'>): Promise<Verification> {
  return deps.snapshot.read(async (tx) => {
    const at = await readMoment(tx);
    const sums = await totals(tx);
    const found = [
      ...imbalance(sums),
      ...(await findBrokenRows(tx, [...BOOK_CHECKS, ...PAYMENT_CHECKS, ...PAYOUT_CHECKS])),
    ];
    return { at, ...sums, broken: found.slice(0, MAX_BROKEN_ROWS), more: found.length > MAX_BROKEN_ROWS };
  });
}

/** Keeps the result for the metrics of every worker and for `doctor`. */
export function keepVerification(
  { results }: Pick<SystemDeps, 'results'>,
  { at, broken, more }: Verification,
  by: VerifiedBy,
): Promise<void> {
  return recordVerification(results, { at, by, inconsistencies: broken.length, complete: !more });
}

function imbalance({ accounts }: Totals): BrokenRow[] {
  const sum = [...accounts.values()].reduce((total, amount) => total + amount, 0n);
  if (sum === 0n) return [];
  const id = 'sum of all accounts';
  return [{ table: 'ledger_balances', organizationId: null, id, expected: '0', found: sum.toString() }];
}
