import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { announce } from '../notices/announce.ts';
import { type KeyEnd, storeEnd } from './key.store.ts';
import { getInternalId, keyStatus } from './key-status.ts';

const DEFAULT_REJECTION = '4016';

export type EndKeyCommand = {
  readonly key: string;
  readonly outcome: KeyEnd['outcome'];
  readonly code?: string | undefined;
  /** Notify the outcome even if it contradicts the stored status, which does not change. */
  readonly anyway: boolean;
};

/** Ends the payer's payment without money. Returns false when the key is not payable or already paid. */
export async function endKey(
  deps: Deps,
  { key, outcome, code: requestedCode, anyway }: EndKeyCommand,
): Promise<boolean> {
  const { keys, clock } = deps.state;
  const record = keys.byKey.get(key);
  const contradicts = keyStatus(record) !== 'REGISTERED' || (record?.payments.length ?? 0) > 0;
  if (contradicts && !anyway) return false;
  const at = nowIso(clock);
  const code = requestedCode ?? (outcome === 'REJECTED' ? DEFAULT_REJECTION : null);
  if (!contradicts) storeEnd(keys, key, { outcome, code }, at);
  const notice = {
    noticeId: randomUUID(),
    type: outcome,
    key,
    internalId: getInternalId(record),
    executionId: null,
    endToEndId: null,
    amount: null,
    currency: 'COP',
    code,
    at,
  } as const;
  const entry = { at, kind: 'breb.ended', key, outcome, code, contradicts } as const;
  await announce(deps, [entry], { rail: 'BRE_B', notice });
  return true;
}
