import { randomUUID } from 'node:crypto';
import type { KeyPayment, KeyRecord, KeyStore } from './key.store.ts';

type KeyStatus = 'REGISTERED' | 'CLOSED' | 'REJECTED' | 'CANCELED' | 'NOT_FOUND';

/** What the network says of a key. Payments are told whatever the status: money is money. */
type KeyStanding = {
  readonly key: string;
  readonly status: KeyStatus;
  /** Why it was rejected. */
  readonly code: string | null;
  readonly expiresAt: string | null;
  readonly payments: readonly KeyPayment[];
};

export function keyStatus(record: KeyRecord | undefined): KeyStatus {
  if (record === undefined) return 'NOT_FOUND';
  if (record.ended !== null) return record.ended.outcome;
  if (record.closedAt !== null) return 'CLOSED';
  return record.registration === null ? 'NOT_FOUND' : 'REGISTERED';
}

export function keyStanding({ byKey }: KeyStore, key: string): KeyStanding {
  const record = byKey.get(key);
  return {
    key,
    status: keyStatus(record),
    code: record?.ended?.code ?? null,
    expiresAt: record?.registration?.expiresAt ?? null,
    payments: record?.payments ?? [],
  };
}

/** Of a key that nobody registered the network knows none, and a notice must carry one: a fresh id is nobody's. */
export function internalIdOf(record: KeyRecord | undefined): string {
  return record?.registration?.internalId ?? randomUUID();
}
