import { recordAction } from '../../audit/operator-action.store.ts';
import { isDatabaseError } from '../../db/failures.ts';
import type { SystemDeps } from '../../deps.ts';
import { operatorActor } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Cents } from '../../kit/money.ts';
import { lockBalance } from '../../ledger/balance.store.ts';
import { depositCause, insertDeposit } from '../../ledger/deposit.store.ts';
import { post } from '../../ledger/ledger.store.ts';
import { postingByCause, reversedAmount } from '../../ledger/reversal.store.ts';
import { organizationExists } from '../../organizations/organization.store.ts';

type DepositDeps = Pick<SystemDeps, 'system' | 'clock' | 'cell'>;

export interface Deposit {
  readonly organizationId: string;
  readonly amount: Cents;
  /** The operator's own identifier of the money, such as a bank transfer number. Each is posted once. */
  readonly reference: string;
  readonly operator: string;
}

export type DepositOutcome =
  | { readonly kind: 'booked' | 'already_booked'; readonly available: Cents; readonly transferId: string }
  | { readonly kind: 'amount_mismatch'; readonly bookedAmount: Cents }
  | { readonly kind: 'already_reversed'; readonly amount: Cents }
  | { readonly kind: 'organization_not_found' };

const RECORDED_ONCE = new Set(['deposit_once', 'ledger_cause_once']);

/** Credits money that an organization paid in outside the rails to its available balance. */
export async function deposit(deps: DepositDeps, command: Deposit): Promise<DepositOutcome> {
  try {
    return await postOnce(deps, command);
  } catch (error) {
    // A concurrent command posted it between our check and our transfer: the second attempt finds it.
    if (isDatabaseError(error) && RECORDED_ONCE.has(error.constraint ?? '')) return postOnce(deps, command);
    throw error;
  }
}

function postOnce(
  deps: DepositDeps,
  { organizationId, amount, reference, operator }: Deposit,
): Promise<DepositOutcome> {
  return deps.system.transaction('deposit', async (tx): Promise<DepositOutcome> => {
    if (!(await organizationExists(tx, organizationId))) return { kind: 'organization_not_found' };
    const cause = depositCause(organizationId, reference);
    const booked = await postingByCause(tx, cause);
    if (booked && booked.amount !== amount) return { kind: 'amount_mismatch', bookedAmount: booked.amount };
    const reversed = booked && (await reversedAmount(tx, booked.id));
    if (reversed !== null) return { kind: 'already_reversed', amount: reversed };
    const id = booked?.id ?? uuidv7(deps.clock.now(), deps.cell);
    if (!booked) {
      await recordAction(tx, {
        operator,
        action: 'ledger.deposit',
        organizationId,
        resource: id,
        details: { reference, amountInCents: amount.toString() },
      });
      await insertDeposit(tx, { organizationId, id }, amount, reference);
      await post(tx, [
        {
          id,
          organizationId,
          debit: 'treasury',
          credit: 'available',
          amount,
          cause,
          resourceId: null,
          createdBy: operatorActor(operator),
        },
      ]);
    }
    const available = await lockBalance(tx, organizationId, 'available');
    return { kind: booked ? 'already_booked' : 'booked', available, transferId: id };
  });
}
