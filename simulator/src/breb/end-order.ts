import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { announce } from '../notices/announce.ts';
import { decideOrder } from './decide-order.ts';
import { type Order, storeExecution, storeRejection } from './order.store.ts';

const DEFAULT_REJECTION = '4016';

type EndOrderCommand = {
  readonly outcome: 'SETTLED' | 'REJECTED';
  readonly code?: string | undefined;
  /** Apply to an ended order too: settling a rejected order moves money; any other outcome is only notified. */
  readonly anyway: boolean;
};

/** Ends an order automatically when it is due. Skips an order that has already ended. */
export async function settleOrder(deps: Deps, endToEndId: string): Promise<void> {
  const order = deps.state.orders.byEndToEndId.get(endToEndId);
  if (order?.status !== 'PROCESSING') return;
  const decision = decideOrder(deps.state, order);
  if (decision !== null) await endOrder(deps, order, { ...decision, anyway: false });
}

/** Returns false when the order has already ended. Updates memory synchronously; resolves when it is on disk. */
export async function endOrder(
  deps: Deps,
  order: Order,
  { outcome, code: requestedCode, anyway }: EndOrderCommand,
): Promise<boolean> {
  const contradicts = order.status !== 'PROCESSING';
  if (contradicts && !anyway) return false;
  const at = nowIso(deps.state.clock);
  const code = outcome === 'SETTLED' ? null : (requestedCode ?? DEFAULT_REJECTION);
  const executed = outcome === 'SETTLED' ? execute(deps, order, contradicts, at) : null;
  if (code !== null && !contradicts) storeRejection(deps.state.orders, order, code, at);
  const { endToEndId, internalId, amount } = order;
  const notice = {
    noticeId: randomUUID(),
    type: outcome === 'SETTLED' ? 'ORDER_SETTLED' : 'ORDER_REJECTED',
    endToEndId,
    internalId,
    executionId: outcome === 'SETTLED' ? order.executionId : null,
    amount,
    currency: 'COP',
    code,
    at,
  } as const;
  const ended = { at, kind: 'breb.order-ended', endToEndId, outcome, code, contradicts } as const;
  await announce(deps, executed === null ? [ended] : [executed, ended], { rail: 'BRE_B', notice });
  return true;
}

/** Returns null for a settled order: an order is executed once, however often SETTLED is notified. */
function execute(deps: Deps, order: Order, anyway: boolean, at: string): JournalEntry | null {
  if (order.status === 'SETTLED') return null;
  const executionId = randomUUID();
  storeExecution(deps.state.orders, order, executionId, at);
  const { endToEndId, key, amount } = order;
  return { at, kind: 'breb.executed', endToEndId, executionId, key, amount, anyway };
}
