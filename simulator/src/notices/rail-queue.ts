import { type FaultStore, noticesHeld } from '../control/fault.store.ts';
import { Heap } from '../heap.ts';
import type { Rail } from '../operations.ts';
import { type Delivery, isSentAlone } from './delivery.ts';

const BATCH_LIMIT = 100;

/** Outgoing notices of one rail. */
export type RailQueue = {
  readonly rail: Rail;
  readonly ready: Heap<Delivery>;
  /** Waiting for their next attempt, or for the delay of the fault `slow`. */
  readonly delayed: Heap<Delivery>;
  /** Held by the fault `down` until it is removed. */
  readonly heldDown: Set<Delivery>;
  /** Held by the fault `reorder` until a later notice is acknowledged. */
  readonly heldBack: Set<Delivery>;
  postsInFlight: number;
};

export function emptyRailQueue(rail: Rail): RailQueue {
  return {
    rail,
    ready: new Heap((a, b) => a.order < b.order),
    delayed: new Heap((a, b) => a.dueMs < b.dueMs),
    heldDown: new Set(),
    heldBack: new Set(),
    postsInFlight: 0,
  };
}

export function enqueue(queue: RailQueue, delivery: Delivery, nowMs: number): void {
  const { fault } = delivery.waiting;
  if (fault === 'down') queue.heldDown.add(delivery);
  else if (fault === 'reorder') queue.heldBack.add(delivery);
  else if (delivery.dueMs > nowMs) queue.delayed.push(delivery);
  else queue.ready.push(delivery);
}

/** Moves due and released deliveries to `ready`, which keeps FIFO order. */
export function moveDueToReady(
  queue: RailQueue,
  faults: FaultStore,
  nowMs: number,
  reorderLimitMs: number,
): void {
  for (
    let next = queue.delayed.peek();
    next !== undefined && next.dueMs <= nowMs;
    next = queue.delayed.peek()
  ) {
    queue.delayed.pop();
    queue.ready.push(next);
  }
  if (queue.heldDown.size > 0 && noticesHeld(faults, queue.rail) === 'none') {
    release(queue, queue.heldDown, () => true);
  }
  release(queue, queue.heldBack, ({ offeredAtMs }) => nowMs - offeredAtMs >= reorderLimitMs);
}

/** Releases reordered notices once a later notice has been acknowledged. */
export function releaseOvertaken(queue: RailQueue, acknowledged: Delivery): void {
  release(queue, queue.heldBack, ({ order }) => order < acknowledged.order);
}

export function takeBatch({ ready }: RailQueue): Delivery[] {
  const first = ready.pop();
  if (first === undefined) return [];
  const batch = [first];
  if (isSentAlone(first)) return batch;
  while (batch.length < BATCH_LIMIT) {
    const next = ready.peek();
    if (next === undefined || isSentAlone(next)) break;
    batch.push(next);
    ready.pop();
  }
  return batch;
}

function release(queue: RailQueue, held: Set<Delivery>, canRelease: (delivery: Delivery) => boolean): void {
  for (const delivery of held) {
    if (!canRelease(delivery)) continue;
    held.delete(delivery);
    queue.ready.push(delivery);
  }
}
