import { lockAnomaly, reopenReversed } from '../../anomalies/anomaly.store.ts';
import { recordAction } from '../../audit/operator-action.store.ts';
import { isDatabaseError } from '../../db/failures.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { operatorActor } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Cents } from '../../kit/money.ts';
import { lockBalance } from '../../ledger/balance.store.ts';
import { depositCause } from '../../ledger/deposit.store.ts';
import { post } from '../../ledger/ledger.store.ts';
import { type Posting, postingByCause, postingById, reversedAmount } from '../../ledger/reversal.store.ts';
import { REVERSIBLE, reversalCause } from '../../ledger/reversal.ts';
import { type CauseKind, isOwnAccount, type OwnAccount } from '../../ledger/transfer.ts';

type ReverseDeps = Pick<SystemDeps, 'system' | 'clock' | 'cell'>;

export interface Reversal {
  readonly organizationId: string;
  readonly posting: { readonly transferId: string } | { readonly depositReference: string };
  /** Null reverses the whole posting. */
  readonly amount: Cents | null;
  readonly operator: string;
  readonly reason: string;
}

export type ReversalRejection =
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
  /** The merchant accepted the money of the anomaly: an operator cannot undo that. */
  | { readonly kind: 'accepted_by_merchant' };

export interface Reversed {
  readonly kind: 'reversed';
  readonly transferId: string;
  readonly reversedTransferId: string;
  readonly amount: Cents;
  /** The anomaly that the reversal reopened. */
  readonly anomalyId: string | null;
}

/**
 * Reverses a posting with a transfer between the same accounts in the other direction. The transfer, the audit row and the
 * reopening of an anomaly commit together.
 */
export async function reversePosting(
  deps: ReverseDeps,
  reversal: Reversal,
): Promise<Reversed | ReversalRejection> {
  try {
    return await reverseOnce(deps, reversal);
  } catch (error) {
    // Another operator reversed it between our check and our transfer: the second attempt finds that.
    if (isDatabaseError(error) && error.constraint === 'ledger_cause_once')
      return reverseOnce(deps, reversal);
    throw error;
  }
}

function reverseOnce(deps: ReverseDeps, reversal: Reversal): Promise<Reversed | ReversalRejection> {
  return deps.system.transaction('reverse posting', async (tx): Promise<Reversed | ReversalRejection> => {
    const posting = await findPosting(tx, reversal);
    if (!posting) return { kind: 'not_found' };
    const amount = reversal.amount ?? posting.amount;
    const anomalyId = posting.causeKind === 'anomaly' ? posting.resourceId : null;
    // Locked first, so that a concurrent resolution or reversal of the same anomaly waits.
    const anomaly = anomalyId === null ? null : await lockAnomaly(tx, anomalyId);
    const rejection = await findRejection(tx, posting, amount);
    if (rejection) return rejection;
    if (anomaly && !(await reopenReversed(tx, anomaly))) return { kind: 'accepted_by_merchant' };
    const transferId = uuidv7(deps.clock.now(), deps.cell);
    await recordAction(tx, {
      operator: reversal.operator,
      action: 'ledger.reverse',
      organizationId: posting.organizationId,
      resource: posting.id,
      details: {
        transferId,
        amountInCents: amount.toString(),
        bookedAmountInCents: posting.amount.toString(),
        cause: posting.causeKind,
        anomalyId,
      },
      note: reversal.reason,
    });
    await post(tx, [
      {
        id: transferId,
        organizationId: posting.organizationId,
        debit: posting.credit,
        credit: posting.debit,
        amount,
        cause: reversalCause(posting.id),
        resourceId: posting.id,
        createdBy: operatorActor(reversal.operator),
      },
    ]);
    return { kind: 'reversed', transferId, reversedTransferId: posting.id, amount, anomalyId };
  });
}

function findPosting(tx: Tx, { organizationId, posting }: Reversal): Promise<Posting | null> {
  return 'transferId' in posting
    ? postingById(tx, organizationId, posting.transferId)
    : postingByCause(tx, depositCause(organizationId, posting.depositReference));
}

async function findRejection(tx: Tx, posting: Posting, amount: Cents): Promise<ReversalRejection | null> {
  const how = REVERSIBLE[posting.causeKind];
  if (how === 'no') return { kind: 'not_reversible', causeKind: posting.causeKind };
  const reversed = await reversedAmount(tx, posting.id);
  if (reversed !== null) return { kind: 'already_reversed', amount: reversed };
  if (amount > posting.amount) return { kind: 'above_booking', bookedAmount: posting.amount };
  if (how === 'wholly' && amount !== posting.amount)
    return { kind: 'whole_only', bookedAmount: posting.amount };
  const account = posting.credit;
  if (!isOwnAccount(account)) return null;
  const balance = await lockBalance(tx, posting.organizationId, account);
  return balance < amount ? { kind: 'insufficient_balance', account, balance, amount } : null;
}
