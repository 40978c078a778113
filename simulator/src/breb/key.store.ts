import { addExecution, type Executions } from '../executions.ts';
import { MAGIC_AFTER_MS, magicOf, SECOND_PAYMENT_AFTER_MS } from '../magic-documents.ts';
import { remember } from '../newest.ts';
import type { Schedule } from '../schedule.ts';

type Payer = {
  readonly documentType: string;
  readonly documentNumber: string;
  readonly name: string;
};

/** Money that came in on a key. */
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

/** How a payer's payment ended without money. */
export type KeyEnd = { readonly outcome: 'REJECTED' | 'CANCELED'; readonly code: string | null };

export type KeyRecord = {
  /** Null for a key that was closed, or paid, before anyone registered it. */
  registration: Registration | null;
  closedAt: string | null;
  ended: KeyEnd | null;
  payments: readonly KeyPayment[];
};

export type RefusalCode = '0004' | '4000' | '4016';

/** A registration as the journal keeps it. `refused` is null for REGISTERED, first or again. */
export type RegistrationRow = readonly [
  key: string,
  internalId: string,
  amount: string,
  expiresAt: string,
  payer: Payer | null,
  refused: RefusalCode | null,
];

/** The counters spare the statistics a walk over millions of keys. `open` keys are neither closed nor ended. */
export type KeyStore = {
  readonly byKey: Map<string, KeyRecord>;
  /** The last ones registered, for the home page. */
  readonly newest: string[];
  readonly schedule: Schedule;
  readonly executions: Executions;
  open: number;
  closed: number;
  ended: number;
  tombstones: number;
};

/** Shared by all unpaid keys: an array each would be a good part of a load test's memory. */
const NO_PAYMENTS: readonly KeyPayment[] = [];

export function noKeys(schedule: Schedule, executions: Executions): KeyStore {
  const counters = { open: 0, closed: 0, ended: 0, tombstones: 0 };
  return { byKey: new Map(), newest: [], schedule, executions, ...counters };
}

/** The first registration stays: a repeat, whatever it carries, changes nothing. */
export function storeRegistration(store: KeyStore, row: RegistrationRow, at: string): void {
  const [key, internalId, amount, expiresAt, payer, refused] = row;
  const known = store.byKey.get(key);
  if (refused !== null || (known !== undefined && isTaken(known))) return;
  const registration = { internalId, amount, expiresAt, payer, registeredAt: at };
  const payments = known?.payments ?? NO_PAYMENTS;
  store.byKey.set(key, { registration, closedAt: null, ended: null, payments });
  store.open += 1;
  remember(store.newest, key);
  foreseeEnd(store, key, payer, Date.parse(at) + MAGIC_AFTER_MS);
}

function isTaken({ registration, closedAt, ended }: KeyRecord): boolean {
  return registration !== null || closedAt !== null || ended !== null;
}

function foreseeEnd({ schedule }: KeyStore, key: string, payer: Payer | null, dueMs: number): void {
  const magic = magicOf(payer);
  if (magic === null || magic.late === true) return;
  if (magic.ends !== 'paid') {
    schedule.push({ dueMs, act: 'end-key', key });
    return;
  }
  schedule.push({ dueMs, act: 'pay-key', key, nth: 1 });
  if (magic.twice === true) {
    schedule.push({ dueMs: dueMs + SECOND_PAYMENT_AFTER_MS, act: 'pay-key', key, nth: 2 });
  }
}

/** For ever, known or not: a registration that was still on its way must find the door shut. */
export function storeClosing(store: KeyStore, key: string, at: string): KeyRecord {
  const record = known(store, key);
  if (record.closedAt !== null) return record;
  record.closedAt = at;
  if (record.ended !== null) return record;
  store.closed += 1;
  if (record.registration === null) {
    store.tombstones += 1;
    return record;
  }
  store.open -= 1;
  // An order that was under way when the door shut.
  if (magicOf(record.registration.payer)?.late === true) {
    store.schedule.push({ dueMs: Date.parse(at) + MAGIC_AFTER_MS, act: 'pay-key', key, nth: 1 });
  }
  return record;
}

/** Any number of payments, of any amount, whatever the standing: whether it may be is judged before. */
export function storePayment(store: KeyStore, key: string, payment: KeyPayment): void {
  const record = known(store, key);
  record.payments = [...record.payments, payment];
  const { executionId, amount, at } = payment;
  addExecution(store.executions, { rail: 'BRE_B', reference: key, executionId, amount, at });
}

export function storeEnd(store: KeyStore, key: string, end: KeyEnd): void {
  known(store, key).ended = end;
  store.open -= 1;
  store.ended += 1;
}

function known({ byKey }: KeyStore, key: string): KeyRecord {
  const found = byKey.get(key);
  if (found !== undefined) return found;
  const unregistered = { registration: null, closedAt: null, ended: null, payments: NO_PAYMENTS };
  byKey.set(key, unregistered);
  return unregistered;
}
