import { lockAnomaly, reopenReversed } from '../anomalies/anomaly.store.ts';
import { recordAction } from '../audit/operator-action.store.ts';
import { isDatabaseError } from '../db/failures.ts';
import type { Tx } from '../db/tx.ts';
import type { SystemDeps } from '../deps.ts';
import { uuidv7 } from '../kit/ids.ts';
import type { Cents } from '../kit/money.ts';
import { lockBalance } from '../ledger/balance.store.ts';
import { depositCause } from '../ledger/deposit.store.ts';
import { post } from '../ledger/ledger.store.ts';
import { type Booking, bookingByCause, bookingById, reversedAmount } from '../ledger/reversal.store.ts';
import { REVERSIBLE, reversalCause } from '../ledger/reversal.ts';
import { type CauseKind, isOwnAccount, type OwnAccount } from '../ledger/transfer.ts';

type ReverseDeps = Pick<SystemDeps, 'system' | 'clock' | 'cell'>;

export interface Reversal {
  readonly organizationId: string;
  readonly booking: { readonly transferId: string } | { readonly depositReference: string };
  /** Null reverses the whole booking. */
  readonly amount: Cents | null;
  readonly operator: string;
  readonly reason: string;
}

export type ReversalRefusal =
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_reversible'; readonly causeKind: CauseKind }
  | { readonly kind: 'already_reversed'; readonly amount: Cents }
  | { readonly kind: 'above_booking' | 'whole_only'; readonly bookedAmount: Cents }
  | {
      readonly kind: 'insufficient_balance';
      readonly account: OwnAccount;
      readonly balance: Cents;
      readonly amount: Cents;
    }
  /** The merchant took the money of the anomaly: an operator cannot undo that. */
  | { readonly kind: 'accepted_by_merchant' };

export interface Reversed {
  readonly kind: 'reversed';
  readonly transferId: string;
  readonly reversedTransferId: string;
  readonly amount: Cents;
  /** The anomaly that waits for a resolution again. */
  readonly anomalyId: string | null;
}

/**
 * Reverses a booking by a transfer between the same accounts in the other direction. Transfer, audit row and, for an
 * anomaly, its reopening commit together.
 */
export async function reverseBooking(
  deps: ReverseDeps,
  reversal: Reversal,
): Promise<Reversed | ReversalRefusal> {
  try {
    return await reverseOnce(deps, reversal);
  } catch (error) {
    // Another operator reversed it between our check and our transfer: the second attempt finds that.
    if (isDatabaseError(error) && error.constraint === 'ledger_cause_once')
      return reverseOnce(deps, reversal);
    throw error;
  }
}

function reverseOnce(deps: ReverseDeps, reversal: Reversal): Promise<Reversed | ReversalRefusal> {
  return deps.system.transaction('reverse booking', async (tx): Promise<Reversed | ReversalRefusal> => {
    const booking = await findBooking(tx, reversal);
    if (!booking) return { kind: 'not_found' };
    const amount = reversal.amount ?? booking.amount;
    const anomalyId = booking.causeKind === 'anomaly' ? booking.resourceId : null;
    // Locked before anything else: a resolution of the same anomaly waits, and so does a second reversal.
    const anomaly = anomalyId === null ? null : await lockAnomaly(tx, anomalyId);
    const refusal = await refusalOf(tx, booking, amount);
    if (refusal) return refusal;
    if (anomaly && !(await reopenReversed(tx, anomaly))) return { kind: 'accepted_by_merchant' };
    const transferId = uuidv7(deps.clock.now(), deps.cell);
    await recordAction(tx, {
      operator: reversal.operator,
      action: 'ledger.reverse',
      organizationId: booking.organizationId,
      resource: booking.id,
      details: {
        transferId,
        amountInCents: amount.toString(),
        bookedAmountInCents: booking.amount.toString(),
        cause: booking.causeKind,
        anomalyId,
      },
      note: reversal.reason,
    });
    await post(tx, [
      {
        id: transferId,
        organizationId: booking.organizationId,
        debit: booking.credit,
        credit: booking.debit,
        amount,
        cause: reversalCause(booking.id),
        resourceId: booking.id,
      },
    ]);
    return { kind: 'reversed', transferId, reversedTransferId: booking.id, amount, anomalyId };
  });
}

function findBooking(tx: Tx, { organizationId, booking }: Reversal): Promise<Booking | null> {
  return 'transferId' in booking
    ? bookingById(tx, organizationId, booking.transferId)
    : bookingByCause(tx, depositCause(organizationId, booking.depositReference));
}

async function refusalOf(tx: Tx, booking: Booking, amount: Cents): Promise<ReversalRefusal | null> {
  const how = REVERSIBLE[booking.causeKind];
  if (how === 'no') return { kind: 'not_reversible', causeKind: booking.causeKind };
  const reversed = await reversedAmount(tx, booking.id);
  if (reversed !== null) return { kind: 'already_reversed', amount: reversed };
  if (amount > booking.amount) return { kind: 'above_booking', bookedAmount: booking.amount };
  if (how === 'wholly' && amount !== booking.amount)
    return { kind: 'whole_only', bookedAmount: booking.amount };
  const account = booking.credit;
  if (!isOwnAccount(account)) return null;
  const balance = await lockBalance(tx, booking.organizationId, account);
  return balance < amount ? { kind: 'insufficient_balance', account, balance, amount } : null;
}
