import { isDatabaseError } from '../db/failures.ts';
import type { SystemDeps } from '../deps.ts';
import { uuidv7 } from '../kit/ids.ts';
import type { Cents } from '../kit/money.ts';
import { lockBalance } from '../ledger/balance.store.ts';
import { bookedDeposit, depositCause } from '../ledger/deposit.store.ts';
import { post } from '../ledger/ledger.store.ts';
import { organizationExists } from '../organizations/organization.store.ts';

type DepositDeps = Pick<SystemDeps, 'system' | 'clock' | 'cell'>;

export interface Deposit {
  readonly organizationId: string;
  readonly amount: Cents;
  /** The operator's own identifier of the money that came: a bank's number, for instance. Booked once. */
  readonly reference: string;
}

export type DepositOutcome =
  | { readonly kind: 'booked' | 'booked before'; readonly available: Cents }
  | { readonly kind: 'other amount'; readonly bookedAmount: Cents }
  | { readonly kind: 'no such organization' };

/** Money that an organization paid in outside the rails becomes available to it. */
export async function deposit(deps: DepositDeps, command: Deposit): Promise<DepositOutcome> {
  try {
    return await bookOnce(deps, command);
  } catch (error) {
    // Somebody booked it between our look and our booking: the second look finds it.
    if (isDatabaseError(error) && error.constraint === 'ledger_cause_once') return bookOnce(deps, command);
    throw error;
  }
}

function bookOnce(
  deps: DepositDeps,
  { organizationId, amount, reference }: Deposit,
): Promise<DepositOutcome> {
  return deps.system.transaction('deposit', async (tx): Promise<DepositOutcome> => {
    if (!(await organizationExists(tx, organizationId))) return { kind: 'no such organization' };
    const cause = depositCause(organizationId, reference);
    const bookedAmount = await bookedDeposit(tx, cause);
    if (bookedAmount !== null && bookedAmount !== amount) return { kind: 'other amount', bookedAmount };
    if (bookedAmount === null) {
      const id = uuidv7(deps.clock.now(), deps.cell);
      await post(tx, [
        { id, organizationId, debit: 'treasury', credit: 'available', amount, cause, resourceId: null },
      ]);
    }
    const available = await lockBalance(tx, organizationId, 'available');
    return { kind: bookedAmount === null ? 'booked' : 'booked before', available };
  });
}
