import { addExecution, type Executions } from '../executions.ts';
import { findMagic, MAGIC_AFTER_MS, magicDelayMs, SECOND_PAYMENT_AFTER_MS } from '../magic-documents.ts';
import { appendRecent } from '../recent-items.ts';
import type { Schedule } from '../schedule.ts';

type Payer = {
  readonly documentType: string;
  readonly documentNumber: string;
  readonly name: string;
};

/** An incoming payment to a key. */
export type KeyPayment = {
  readonly executionId: string;
  readonly endToEndId: string;
  readonly amount: string;
  readonly at: string;
};

type Registration = {
  readonly internalId: string;
  readonly amount: string;
  readonly expiresAt: string;
  readonly payer: Payer | null;
  readonly registeredAt: string;
};

/** Outcome of a payer's payment that ended without money. */
export type KeyEnd = { readonly outcome: 'REJECTED' | 'CANCELED'; readonly code: string | null };

export type KeyRecord = {
  /** Null for a key that was closed or paid without being registered. */
  registration: Registration | null;
  closedAt: string | null;
  ended: KeyEnd | null;
  payments: readonly KeyPayment[];
};

export type RegistrationRejectionCode = '0004' | '4000' | '4016';

/** A registration as stored in the journal. `rejectionCode` is null for REGISTERED, including repeats. */
export type RegistrationRow = readonly [
  key: string,
  internalId: string,
  amount: string,
  expiresAt: string,
  payer: Payer | null,
  rejectionCode: RegistrationRejectionCode | null,
];

/** Counters avoid a scan over millions of keys for the statistics. `open` keys are neither closed nor ended. */
export type KeyStore = {
  readonly byKey: Map<string, KeyRecord>;
  /** The most recently registered keys, for the home page. */
  readonly recent: string[];
  readonly schedule: Schedule;
  readonly executions: Executions;
  /** Amounts of payers who pay after the key is closed, by key. */
  readonly latePayers: Map<string, string>;
  open: number;
  closed: number;
  ended: number;
  tombstones: number;
};

/** Shared by all unpaid keys: one array per key would take much of a load test's memory. */
const NO_PAYMENTS: readonly KeyPayment[] = [];

export function emptyKeyStore(schedule: Schedule, executions: Executions): KeyStore {
  const counters = { open: 0, closed: 0, ended: 0, tombstones: 0 };
  return { byKey: new Map(), recent: [], schedule, executions, latePayers: new Map(), ...counters };
}

/** The first registration wins: a repeat changes nothing, even with other values. */
export function storeRegistration(store: KeyStore, row: RegistrationRow, at: string): void {
  const [key, internalId, amount, expiresAt, payer, rejectionCode] = row;
  const existing = store.byKey.get(key);
  if (rejectionCode !== null || (existing !== undefined && isTaken(existing))) return;
  const registration = { internalId, amount, expiresAt, payer, registeredAt: at };
  const payments = existing?.payments ?? NO_PAYMENTS;
  store.byKey.set(key, { registration, closedAt: null, ended: null, payments });
  store.open += 1;
  appendRecent(store.recent, key);
  scheduleMagic(store, key, payer, Date.parse(at));
}

function isTaken({ registration, closedAt, ended }: KeyRecord): boolean {
  return registration !== null || closedAt !== null || ended !== null;
}

function scheduleMagic({ schedule }: KeyStore, key: string, payer: Payer | null, registeredMs: number): void {
  const magic = findMagic(payer);
  if (magic === null || magic.late === true || magic.ends === 'left') return;
  const dueMs = registeredMs + magicDelayMs(magic);
  if (magic.ends !== 'paid') {
    schedule.push({ dueMs, act: 'end-key', key });
    return;
  }
  schedule.push({ dueMs, act: 'pay-key', key, nth: 1 });
  if (magic.twice === true) {
    schedule.push({ dueMs: dueMs + SECOND_PAYMENT_AFTER_MS, act: 'pay-key', key, nth: 2 });
  }
}

/** Closes a key permanently, even an unregistered one: a registration still in flight must be rejected. */
export function storeClosing(store: KeyStore, key: string, at: string): KeyRecord {
  const record = getOrCreate(store, key);
  if (record.closedAt !== null) return record;
  record.closedAt = at;
  scheduleLatePayer(store, key, at);
  if (record.ended !== null) return record;
  store.closed += 1;
  if (record.registration === null) {
    store.tombstones += 1;
    return record;
  }
  store.open -= 1;
  // Simulates a payment that was in flight when the key was closed.
  if (findMagic(record.registration.payer)?.late === true) {
    store.schedule.push({ dueMs: Date.parse(at) + MAGIC_AFTER_MS, act: 'pay-key', key, nth: 1 });
  }
  return record;
}

/** Accepts any number of payments, of any amount, in any status: the caller validates. */
export function storePayment(store: KeyStore, key: string, payment: KeyPayment): void {
  const record = getOrCreate(store, key);
  record.payments = [...record.payments, payment];
  if (record.closedAt !== null || record.ended !== null) store.latePayers.delete(key);
  const { executionId, amount, at } = payment;
  addExecution(store.executions, { rail: 'BRE_B', reference: key, executionId, amount, at });
}

export function storeEnd(store: KeyStore, key: string, end: KeyEnd, at: string): void {
  getOrCreate(store, key).ended = end;
  scheduleLatePayer(store, key, at);
  store.open -= 1;
  store.ended += 1;
}

/** The key must be open. */
export function storeLatePayer({ latePayers }: KeyStore, key: string, amount: string): void {
  latePayers.set(key, amount);
}

function scheduleLatePayer({ schedule, latePayers }: KeyStore, key: string, at: string): void {
  if (latePayers.has(key)) schedule.push({ dueMs: Date.parse(at) + MAGIC_AFTER_MS, act: 'pay-late', key });
}

function getOrCreate({ byKey }: KeyStore, key: string): KeyRecord {
  const found = byKey.get(key);
  if (found !== undefined) return found;
  const unregistered = { registration: null, closedAt: null, ended: null, payments: NO_PAYMENTS };
  byKey.set(key, unregistered);
  return unregistered;
}
