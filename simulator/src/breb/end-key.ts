import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { announce } from '../notices/announce.ts';
import { type KeyEnd, storeEnd } from './key.store.ts';
import { internalIdOf, keyStatus } from './key-status.ts';

const DEFAULT_REJECTION = '4016';

export type EndOrder = {
  readonly key: string;
  readonly outcome: KeyEnd['outcome'];
  readonly code?: string | undefined;
  /** Said against what stands, which stays. */
  readonly anyway: boolean;
};

/** The payer's payment ends without money. False when there is nothing left to end. */
export async function endKey(deps: Deps, { key, outcome, code: said, anyway }: EndOrder): Promise<boolean> {
  const { keys, clock } = deps.state;
  const record = keys.byKey.get(key);
  const contradicts = keyStatus(record) !== 'REGISTERED' || (record?.payments.length ?? 0) > 0;
  if (contradicts && !anyway) return false;
  const at = nowIso(clock);
  const code = said ?? (outcome === 'REJECTED' ? DEFAULT_REJECTION : null);
  if (!contradicts) storeEnd(keys, key, { outcome, code });
  const notice = {
    noticeId: randomUUID(),
    type: outcome,
    key,
    internalId: internalIdOf(record),
    executionId: null,
    endToEndId: null,
    amount: null,
    currency: 'COP',
    code,
    at,
  } as const;
  const happened = { at, kind: 'breb.ended', key, outcome, code, contradicts } as const;
  await announce(deps, [happened], { rail: 'BRE_B', notice });
  return true;
}
