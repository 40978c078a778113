import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { announce, type Telling } from '../notices/announce.ts';
import { newEndToEndId } from './end-to-end-id.ts';
import { storePayment } from './key.store.ts';
import { internalIdOf, keyStatus } from './key-status.ts';

type PayOrder = {
  readonly key: string;
  /** The registered one unless said. */
  readonly amount?: string | undefined;
  /** It was under way when the door shut, or nobody ever registered the key. */
  readonly anyway: boolean;
};

type PayResult =
  | { readonly key: string; readonly executionId: string; readonly endToEndId: string }
  | { readonly key: string; readonly code: '0004' | 'AMOUNT_REQUIRED' };

/**
 * Judged and stored in one step, before the first wait; resolves when it is on the disk. The expiry is not looked
 * at: a network's clock is not ours, and a key is payable until it is closed.
 */
export async function payKey(
  deps: Deps,
  { key, amount: wished, anyway }: PayOrder,
  telling: Telling = 'once',
): Promise<PayResult> {
  const { keys, clock } = deps.state;
  const record = keys.byKey.get(key);
  const amount = wished ?? record?.registration?.amount;
  if (keyStatus(record) !== 'REGISTERED' && !anyway) return { key, code: '0004' };
  if (amount === undefined) return { key, code: 'AMOUNT_REQUIRED' };
  const at = nowIso(clock);
  const executionId = randomUUID();
  const endToEndId = newEndToEndId(at);
  storePayment(keys, key, { executionId, endToEndId, amount, at });
  const notice = {
    noticeId: randomUUID(),
    type: 'SETTLED',
    key,
    internalId: internalIdOf(record),
    executionId,
    endToEndId,
    amount,
    currency: 'COP',
    code: null,
    at,
  } as const;
  await announce(
    deps,
    [{ at, kind: 'breb.paid', key, executionId, endToEndId, amount, anyway }],
    { rail: 'BRE_B', notice },
    telling,
  );
  return { key, executionId, endToEndId };
}
