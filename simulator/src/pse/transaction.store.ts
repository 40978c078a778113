import { randomInt } from 'node:crypto';

export type CreateCode =
  | 'SUCCESS'
  | 'FAIL_BANKNOTEXISTSORDISABLED'
  | 'FAIL_BANKUNREACHEABLE'
  | 'FAIL_EXCEEDEDLIMIT'
  | 'FAIL_INVALIDAMOUNT'
  | 'FAIL_TRANSACTIONNOTALLOWED';

type TransactionState = 'PENDING' | 'OK' | 'NOT_AUTHORIZED' | 'FAILED';

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
  state: TransactionState;
  reason: string | null;
};

export type TransactionStore = {
  readonly byReference: Map<string, Transaction>;
  readonly byTransactionId: Map<string, Transaction>;
  lastTrazabilityCode: number | null;
};

export function noTransactions(): TransactionStore {
  return { byReference: new Map(), byTransactionId: new Map(), lastTrazabilityCode: null };
}

export function storeTransaction(store: TransactionStore, transaction: Transaction): void {
  store.byReference.set(transaction.reference, transaction);
  store.byTransactionId.set(transaction.transactionId, transaction);
  store.lastTrazabilityCode = Number(transaction.trazabilityCode);
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
