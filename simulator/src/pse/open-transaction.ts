import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { storeOpening, type Transaction } from './transaction.store.ts';

/** Records that the payer opened the bank page. Only the first visit of a PENDING transaction counts. */
export async function openTransaction(deps: Deps, transaction: Transaction): Promise<void> {
  if (transaction.openedAt !== null || transaction.state !== 'PENDING') return;
  const at = nowIso(deps.state.clock);
  storeOpening(deps.state.transactions, transaction, at);
  await record(deps, { at, kind: 'pse.opened', reference: transaction.reference });
}
