type Payer = {
  readonly documentType: string;
  readonly documentNumber: string;
  readonly name: string;
};

/** Money that came in on a key. None can in this part; the shape is what the answers carry. */
type KeyPayment = {
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

export type KeyRecord = {
  /** Null for a key that was closed before anyone registered it. */
  registration: Registration | null;
  closedAt: string | null;
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

/** The counters spare the statistics a walk over millions of keys. */
export type KeyStore = {
  readonly byKey: Map<string, KeyRecord>;
  open: number;
  closed: number;
  tombstones: number;
};

/** Shared by all unpaid keys: an array each would be a good part of a load test's memory. */
const NO_PAYMENTS: readonly KeyPayment[] = [];

export function noKeys(): KeyStore {
  return { byKey: new Map(), open: 0, closed: 0, tombstones: 0 };
}

export function keyStatus(record: KeyRecord): 'REGISTERED' | 'CLOSED' {
  return record.closedAt === null ? 'REGISTERED' : 'CLOSED';
}

/** The first registration stays: a repeat, whatever it carries, changes nothing. */
export function storeRegistration(store: KeyStore, row: RegistrationRow, at: string): void {
  const [key, internalId, amount, expiresAt, payer, refused] = row;
  if (refused !== null || store.byKey.has(key)) return;
  const registration = { internalId, amount, expiresAt, payer, registeredAt: at };
  store.byKey.set(key, { registration, closedAt: null, payments: NO_PAYMENTS });
  store.open += 1;
}

/** For ever, known or not: a registration that was still on its way must find the door shut. */
export function storeClosing(store: KeyStore, key: string, at: string): KeyRecord {
  const known = store.byKey.get(key);
  if (known === undefined) {
    const tombstone: KeyRecord = { registration: null, closedAt: at, payments: NO_PAYMENTS };
    store.byKey.set(key, tombstone);
    store.closed += 1;
    store.tombstones += 1;
    return tombstone;
  }
  if (known.closedAt === null) {
    known.closedAt = at;
    store.open -= 1;
    store.closed += 1;
  }
  return known;
}
