import { randomInt } from 'node:crypto';
import { addExecution, type Executions } from '../executions.ts';
import { findMagic, LATE_APPROVAL_MS, magicDelayMs } from '../magic-documents.ts';
import { appendRecent } from '../recent-items.ts';
import type { Schedule } from '../schedule.ts';

/** PSE timeouts: the payer does not open the bank page, or opens it and does not decide. */
const UNOPENED_MS = 10 * 60_000;
const UNFINISHED_MS = 25 * 60_000;

export type CreateCode =
  | 'SUCCESS'
  | 'FAIL_BANKNOTEXISTSORDISABLED'
  | 'FAIL_BANKUNREACHEABLE'
  | 'FAIL_EXCEEDEDLIMIT'
  | 'FAIL_INVALIDAMOUNT'
  | 'FAIL_TRANSACTIONNOTALLOWED';

export type DecidedState = 'OK' | 'NOT_AUTHORIZED' | 'FAILED';

export type Transaction = {
  readonly reference: string;
  readonly transactionId: string;
  /** The CUS: the number shown on the bank's receipt. Digits only. */
  readonly trazabilityCode: string;
  readonly transactionCycle: string;
  /** Part of the bank page URL: the transaction id alone does not give access. */
  readonly secret: string;
  readonly bankCode: string;
  readonly personType: 0 | 1;
  readonly returnUrl: string;
  readonly description: string;
  /** Null when the order names no merchant. */
  readonly merchantName: string | null;
  readonly amount: string;
  readonly currency: 'COP';
  readonly expiresAt: string | null;
  readonly payer: {
    readonly documentType: string;
    readonly documentNumber: string;
    readonly name: string;
    readonly email: string;
    readonly phone: string;
  };
  readonly createdAt: string;
  /** When the bank page was first opened. */
  openedAt: string | null;
  /** When the bank approves, although the payer has left its page. */
  approvesAt: string | null;
  state: 'PENDING' | DecidedState;
  reason: string | null;
};

export type TransactionStore = {
  readonly byReference: Map<string, Transaction>;
  readonly byTransactionId: Map<string, Transaction>;
  /** The most recently created transactions, for the home page. */
  readonly recent: Transaction[];
  readonly schedule: Schedule;
  readonly executions: Executions;
  lastTrazabilityCode: number | null;
};

export function emptyTransactionStore(schedule: Schedule, executions: Executions): TransactionStore {
  return {
    byReference: new Map(),
    byTransactionId: new Map(),
    recent: [],
    schedule,
    executions,
    lastTrazabilityCode: null,
  };
}

export function storeTransaction(store: TransactionStore, transaction: Transaction): void {
  const { reference, transactionId, trazabilityCode, createdAt } = transaction;
  store.byReference.set(reference, transaction);
  store.byTransactionId.set(transactionId, transaction);
  store.lastTrazabilityCode = Number(trazabilityCode);
  appendRecent(store.recent, transaction);
  const magicMs = magicDueMs(transaction);
  if (magicMs !== null) store.schedule.push({ dueMs: magicMs, act: 'end-transaction', reference });
  const dueMs = Date.parse(createdAt) + UNOPENED_MS;
  if (!isLate(transaction)) store.schedule.push({ dueMs, act: 'fail-unopened', reference });
}

export function storeOpening(store: TransactionStore, transaction: Transaction, at: string): void {
  const { reference } = transaction;
  transaction.openedAt = at;
  const dueMs = Date.parse(at) + UNFINISHED_MS;
  if (!isLate(transaction)) store.schedule.push({ dueMs, act: 'fail-unfinished', reference });
}

export function storeLaterApproval(
  store: TransactionStore,
  transaction: Transaction,
  approvesAt: string,
): void {
  transaction.approvesAt = approvesAt;
  const { reference } = transaction;
  store.schedule.push({ dueMs: Date.parse(approvesAt), act: 'approve-left', reference });
}

/** A transaction is paid once: after an approval, later decisions change nothing and move no money. */
export function storeDecision(
  store: TransactionStore,
  transaction: Transaction,
  decision: { readonly state: DecidedState; readonly reason: string | null; readonly at: string },
): void {
  if (transaction.state === 'OK') return;
  transaction.state = decision.state;
  transaction.reason = decision.reason;
  if (decision.state !== 'OK') return;
  const { reference, transactionId: executionId, amount } = transaction;
  addExecution(store.executions, { rail: 'PSE', reference, executionId, amount, at: decision.at });
}

function magicDueMs({ payer, createdAt, expiresAt }: Transaction): number | null {
  const magic = findMagic(payer);
  if (magic === null) return null;
  if (magic.late !== true) return Date.parse(createdAt) + magicDelayMs(magic);
  return Date.parse(expiresAt ?? createdAt) + LATE_APPROVAL_MS;
}

/** A late approval must arrive, so the timeouts do not apply to it. */
function isLate({ payer }: Transaction): boolean {
  return findMagic(payer)?.late === true;
}

/** Increments from a random start: unique here, and unlikely to repeat a code of a deleted data directory. */
export function nextTrazabilityCode(store: TransactionStore): string {
  return String(
    store.lastTrazabilityCode === null
      ? randomInt(1_000_000_000, 9_000_000_000)
      : store.lastTrazabilityCode + 1,
  );
}

/** Built on each request: the simulator may restart on another port, and a stored URL would be dead. */
export function bankUrl(publicUrl: string, { transactionId, secret }: Transaction): string {
  return `${publicUrl}/bank/${transactionId}?t=${secret}`;
}
