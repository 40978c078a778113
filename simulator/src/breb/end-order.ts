import { randomUUID } from 'node:crypto';
import { nowIso } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { announce } from '../notices/announce.ts';
import { type Order, storeExecution, storeRejection } from './order.store.ts';
import { judgeOrder } from './order-verdict.ts';

const DEFAULT_REJECTION = '4016';

type OrderEnd = {
  readonly outcome: 'SETTLED' | 'REJECTED';
  readonly code?: string | undefined;
  /** Though it has ended: money that goes out after a rejection; anything else is only said. */
  readonly anyway: boolean;
};

/** What happens to an order by itself. One that was ended meanwhile, or before a restart, is left alone. */
export async function settleOrder(deps: Deps, endToEndId: string): Promise<void> {
  const order = deps.state.orders.byEndToEndId.get(endToEndId);
  if (order?.status !== 'PROCESSING') return;
  const verdict = judgeOrder(deps.state, order);
  if (verdict !== null) await endOrder(deps, order, { ...verdict, anyway: false });
}

/** False when the order has ended before. Stored before the first wait; resolves when it is on the disk. */
export async function endOrder(
  deps: Deps,
  order: Order,
  { outcome, code: said, anyway }: OrderEnd,
): Promise<boolean> {
  const contradicts = order.status !== 'PROCESSING';
  if (contradicts && !anyway) return false;
  const at = nowIso(deps.state.clock);
  const code = outcome === 'SETTLED' ? null : (said ?? DEFAULT_REJECTION);
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

/** Nothing when the money went out before: an order is executed once, however often it is said to be settled. */
function execute(deps: Deps, order: Order, anyway: boolean, at: string): JournalEntry | null {
  if (order.status === 'SETTLED') return null;
  const executionId = randomUUID();
  storeExecution(deps.state.orders, order, executionId, at);
  const { endToEndId, key, amount } = order;
  return { at, kind: 'breb.executed', endToEndId, executionId, key, amount, anyway };
}
