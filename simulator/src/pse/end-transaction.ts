import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { announce, type Telling } from '../notices/announce.ts';
import { type DecidedState, storeDecision, type Transaction } from './transaction.store.ts';

const DEFAULT_REASONS = { OK: null, NOT_AUTHORIZED: '11', FAILED: '10' } as const;

type Decision = {
  readonly state: DecidedState;
  readonly reason?: string | undefined;
  /** Though it was decided before: money that comes after a refusal, or a refusal that comes after the money. */
  readonly anyway: boolean;
};

/** False when the transaction was decided before. Resolves when the decision is on the disk. */
export async function endTransaction(
  deps: Deps,
  transaction: Transaction,
  { state, reason: said, anyway }: Decision,
  telling: Telling = 'once',
): Promise<boolean> {
  const contradicts = transaction.state !== 'PENDING';
  if (contradicts && !anyway) return false;
  const at = nowIso(deps.state.clock);
  const reason = said ?? DEFAULT_REASONS[state];
  storeDecision(deps.state.transactions, transaction, { state, reason, at });
  const { reference, transactionId, trazabilityCode, amount, currency } = transaction;
  const noticeId = randomUUID();
  const notice = { noticeId, reference, transactionId, trazabilityCode, state, amount, currency, reason, at };
  const happened = { at, kind: 'pse.ended', reference, transactionId, state, reason, contradicts } as const;
  await announce(deps, [happened], { rail: 'PSE', notice }, telling);
  return true;
}
