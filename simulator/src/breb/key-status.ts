import { randomUUID } from 'node:crypto';
import type { KeyPayment, KeyRecord, KeyStore } from './key.store.ts';

type KeyStatus = 'REGISTERED' | 'CLOSED' | 'REJECTED' | 'CANCELED' | 'NOT_FOUND';

/** The network's view of a key. It lists payments in every status. */
type KeyState = {
  readonly key: string;
  readonly status: KeyStatus;
  /** Rejection code. */
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

export function readKeyState({ byKey }: KeyStore, key: string): KeyState {
  const record = byKey.get(key);
  return {
    key,
    status: keyStatus(record),
    code: record?.ended?.code ?? null,
    expiresAt: record?.registration?.expiresAt ?? null,
    payments: record?.payments ?? [],
  };
}

/** A notice must carry an internal id. An unregistered key has none, so it gets a random id that matches no key. */
export function getInternalId(record: KeyRecord | undefined): string {
  return record?.registration?.internalId ?? randomUUID();
}
