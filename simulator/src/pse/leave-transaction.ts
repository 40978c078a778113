import { nowIso, nowMs } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { endTransaction } from './end-transaction.ts';
import { openTransaction } from './open-transaction.ts';
import { storeLaterApproval, type Transaction } from './transaction.store.ts';

/** PSE's reasons for an unfinished transaction: the page was never opened, or opened and left. */
export const UNFINISHED_REASONS = { unopened: '14', unfinished: '15' } as const;

/**
 * The payer leaves the bank page without a decision. With `approvesInMs` the bank approves later, as when the payer
 * authorizes in the bank's app; otherwise PSE ends the transaction by its timeout.
 */
export async function leaveTransaction(
  deps: Deps,
  transaction: Transaction,
  approvesInMs?: number,
): Promise<void> {
  await openTransaction(deps, transaction);
  if (approvesInMs === undefined || transaction.state !== 'PENDING') return;
  const { state } = deps;
  const approvesAt = new Date(nowMs(state.clock) + approvesInMs).toISOString();
  storeLaterApproval(state.transactions, transaction, approvesAt);
  const { reference } = transaction;
  await record(deps, { at: nowIso(state.clock), kind: 'pse.left', reference, approvesAt });
}

/** Ends the transaction now as PSE does by timeout. Returns false when it has already been decided. */
export function abandonTransaction(deps: Deps, transaction: Transaction): Promise<boolean> {
  const reason = UNFINISHED_REASONS[transaction.openedAt === null ? 'unopened' : 'unfinished'];
  return endTransaction(deps, transaction, { state: 'FAILED', reason, anyway: false });
}
