import type { Schedule } from '../schedule.ts';
import { toCents } from '../wire.ts';

/** An order that the network accepted. Orders rejected at intake are not stored. */
export type Order = {
  readonly endToEndId: string;
  readonly internalId: string;
  readonly resolutionId: string | null;
  readonly key: string;
  readonly amount: string;
  readonly receivedAt: string;
  status: 'PROCESSING' | 'SETTLED' | 'REJECTED';
  /** Rejection code. */
  code: string | null;
  executionId: string | null;
  endedAt: string | null;
};

export type IntakeCode = '4000' | '4013';

/** An order as stored in the journal, with its answer. */
export type OrderRow = readonly [
  endToEndId: string,
  internalId: string,
  resolutionId: string | null,
  key: string,
  amount: string,
  ...answer:
    | readonly ['PROCESSING', null]
    | readonly ['DUPLICATE', '5001']
    | readonly ['REJECTED', IntakeCode],
];

/** An outgoing payment. */
type OutgoingExecution = {
  readonly endToEndId: string;
  readonly internalId: string;
  readonly executionId: string;
  readonly amount: string;
  readonly key: string;
  readonly at: string;
};

/** `received` is the sum of the other counters: `rejected` includes orders rejected at intake. */
type OrderCounts = {
  received: number;
  duplicates: number;
  settled: number;
  rejected: number;
  processing: number;
};

export type OrderStore = {
  readonly byEndToEndId: Map<string, Order>;
  /** The first order of each internal id. A client may reuse one: the rail identifies orders by end-to-end id. */
  readonly byInternalId: Map<string, Order>;
  readonly executions: OutgoingExecution[];
  executedCents: bigint;
  readonly counts: OrderCounts;
  readonly schedule: Schedule;
  /** Delay from intake to settlement, on the simulator's clock. */
  readonly orderMs: number;
};

export function emptyOrderStore(schedule: Schedule, orderMs: number): OrderStore {
  return {
    byEndToEndId: new Map(),
    byInternalId: new Map(),
    executions: [],
    executedCents: 0n,
    counts: { received: 0, duplicates: 0, settled: 0, rejected: 0, processing: 0 },
    schedule,
    orderMs,
  };
}

export function storeOrder(store: OrderStore, row: OrderRow, at: string): void {
  const [endToEndId, internalId, resolutionId, key, amount, status] = row;
  const { counts } = store;
  counts.received += 1;
  if (status !== 'PROCESSING') {
    counts[status === 'DUPLICATE' ? 'duplicates' : 'rejected'] += 1;
    return;
  }
  counts.processing += 1;
  const initial = { status, code: null, executionId: null, endedAt: null };
  const order: Order = { endToEndId, internalId, resolutionId, key, amount, receivedAt: at, ...initial };
  store.byEndToEndId.set(endToEndId, order);
  if (!store.byInternalId.has(internalId)) store.byInternalId.set(internalId, order);
  store.schedule.push({ dueMs: Date.parse(at) + store.orderMs, act: 'settle-order', endToEndId });
}

/** Marks an order as executed, even after a rejection. The caller ensures that it happens once. */
export function storeExecution(store: OrderStore, order: Order, executionId: string, at: string): void {
  const { endToEndId, internalId, amount, key } = order;
  store.counts[order.status === 'REJECTED' ? 'rejected' : 'processing'] -= 1;
  store.counts.settled += 1;
  Object.assign(order, { status: 'SETTLED', code: null, executionId, endedAt: at } satisfies Partial<Order>);
  store.executions.push({ endToEndId, internalId, executionId, amount, key, at });
  store.executedCents += toCents(amount);
}

export function storeRejection(store: OrderStore, order: Order, code: string, at: string): void {
  store.counts.processing -= 1;
  store.counts.rejected += 1;
  Object.assign(order, { status: 'REJECTED', code, endedAt: at } satisfies Partial<Order>);
}
