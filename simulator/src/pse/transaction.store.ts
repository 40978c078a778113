import { randomInt } from 'node:crypto';
import { addExecution, type Executions } from '../executions.ts';
import { LATE_APPROVAL_MS, MAGIC_AFTER_MS, magicOf } from '../magic-documents.ts';
import { remember } from '../newest.ts';
import type { Schedule } from '../schedule.ts';

/** How long PSE waits for a payer who never comes to the bank, and for one who never finishes there. */
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
  /** The CUS: digits, the number a payer finds on the bank's receipt. */
  readonly trazabilityCode: string;
  readonly transactionCycle: string;
  /** Part of the bank page's address: knowing the id alone opens nothing. */
  readonly secret: string;
  readonly bankCode: string;
  readonly personType: 0 | 1;
  readonly returnUrl: string;
  readonly description: string;
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
  state: 'PENDING' | DecidedState;
  reason: string | null;
};

export type TransactionStore = {
  readonly byReference: Map<string, Transaction>;
  readonly byTransactionId: Map<string, Transaction>;
  /** The last ones created, for the home page. */
  readonly newest: Transaction[];
  readonly schedule: Schedule;
  readonly executions: Executions;
  lastTrazabilityCode: number | null;
};

export function noTransactions(schedule: Schedule, executions: Executions): TransactionStore {
  return {
    byReference: new Map(),
    byTransactionId: new Map(),
    newest: [],
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
  remember(store.newest, transaction);
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

/** A transaction is paid once: a refusal after it is words, and a second approval moves nothing. */
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
  const magic = magicOf(payer);
  if (magic === null) return null;
  if (magic.late !== true) return Date.parse(createdAt) + MAGIC_AFTER_MS;
  return Date.parse(expiresAt ?? createdAt) + LATE_APPROVAL_MS;
}

/** An approval that is under way: nobody gives it up before it arrives. */
function isLate({ payer }: Transaction): boolean {
  return magicOf(payer)?.late === true;
}

/** Counted on from a random start: unique here, and unlikely to repeat one of a thrown-away data directory. */
export function nextTrazabilityCode(store: TransactionStore): string {
  return String(
    store.lastTrazabilityCode === null
      ? randomInt(1_000_000_000, 9_000_000_000)
      : store.lastTrazabilityCode + 1,
  );
}

/** Built when asked for: a simulator that comes back on another port must not hand out dead addresses. */
export function bankUrl(publicUrl: string, { transactionId, secret }: Transaction): string {
  return `${publicUrl}/bank/${transactionId}?t=${secret}`;
}
