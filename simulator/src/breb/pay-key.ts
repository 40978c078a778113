import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { announce, type NoticeMode } from '../notices/announce.ts';
import { newEndToEndId } from './end-to-end-id.ts';
import { storePayment } from './key.store.ts';
import { getInternalId, keyStatus } from './key-status.ts';

type PayKeyCommand = {
  readonly key: string;
  /** Default: the registered amount. */
  readonly amount?: string | undefined;
  /** Pay even a closed or unregistered key: simulates a payment that was in flight. */
  readonly anyway: boolean;
};

export type PayResult =
  | { readonly key: string; readonly executionId: string; readonly endToEndId: string }
  | { readonly key: string; readonly code: '0004' | 'AMOUNT_REQUIRED' };

/**
 * Validates and stores the payment synchronously; resolves when it is on disk. It ignores the expiry: the
 * network's clock differs from the server's, and a key is payable until it is closed.
 */
export async function payKey(
  deps: Deps,
  { key, amount: requestedAmount, anyway }: PayKeyCommand,
  noticeMode: NoticeMode = 'once',
): Promise<PayResult> {
  const { keys, clock } = deps.state;
  const record = keys.byKey.get(key);
  const amount = requestedAmount ?? record?.registration?.amount;
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
    internalId: getInternalId(record),
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
    noticeMode,
  );
  return { key, executionId, endToEndId };
}
