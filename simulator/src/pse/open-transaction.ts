import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { storeOpening, type Transaction } from './transaction.store.ts';

/** The payer has come to the bank. Only the first time counts, and only while there is something to decide. */
export async function openTransaction(deps: Deps, transaction: Transaction): Promise<void> {
  if (transaction.openedAt !== null || transaction.state !== 'PENDING') return;
  const at = nowIso(deps.state.clock);
  storeOpening(deps.state.transactions, transaction, at);
  await record(deps, { at, kind: 'pse.opened', reference: transaction.reference });
}
