import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { announce, type NoticeMode } from '../notices/announce.ts';
import { type DecidedState, storeDecision, type Transaction } from './transaction.store.ts';

const DEFAULT_REASONS = { OK: null, NOT_AUTHORIZED: '11', FAILED: '10' } as const;

type Decision = {
  readonly state: DecidedState;
  readonly reason?: string | undefined;
  /** Apply to a decided transaction too: an approval after a rejection, or a rejection after an approval. */
  readonly anyway: boolean;
};

/** Returns false when the transaction has already been decided. Resolves when the decision is on disk. */
export async function endTransaction(
  deps: Deps,
  transaction: Transaction,
  { state, reason: requestedReason, anyway }: Decision,
  noticeMode: NoticeMode = 'once',
): Promise<boolean> {
  const contradicts = transaction.state !== 'PENDING';
  if (contradicts && !anyway) return false;
  const at = nowIso(deps.state.clock);
  const reason = requestedReason ?? DEFAULT_REASONS[state];
  storeDecision(deps.state.transactions, transaction, { state, reason, at });
  const { reference, transactionId, trazabilityCode, amount, currency } = transaction;
  const noticeId = randomUUID();
  const notice = { noticeId, reference, transactionId, trazabilityCode, state, amount, currency, reason, at };
  const entry = { at, kind: 'pse.ended', reference, transactionId, state, reason, contradicts } as const;
  await announce(deps, [entry], { rail: 'PSE', notice }, noticeMode);
  return true;
}
