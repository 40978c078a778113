import { type FaultStore, noticesHeld } from '../control/fault.store.ts';
import { Heap } from '../heap.ts';
import type { Rail } from '../operations.ts';
import { type Delivery, travelsAlone } from './delivery.ts';

const BATCH_LIMIT = 100;
const REORDER_LIMIT_MS = 2000;

/** The notices of one rail on their way out. */
export type Lane = {
  readonly rail: Rail;
  readonly ready: Heap<Delivery>;
  /** Until their next attempt, or until `slow` lets them go. */
  readonly later: Heap<Delivery>;
  /** By the fault `down`, until it is removed. */
  readonly heldDown: Set<Delivery>;
  /** By the fault `reorder`, until a later one was acknowledged. */
  readonly heldBack: Set<Delivery>;
  posting: number;
};

export function emptyLane(rail: Rail): Lane {
  return {
    rail,
    ready: new Heap((a, b) => a.order < b.order),
    later: new Heap((a, b) => a.dueMs < b.dueMs),
    heldDown: new Set(),
    heldBack: new Set(),
    posting: 0,
  };
}

export function enter(lane: Lane, delivery: Delivery, nowMs: number): void {
  const { fault } = delivery.waiting;
  if (fault === 'down') lane.heldDown.add(delivery);
  else if (fault === 'reorder') lane.heldBack.add(delivery);
  else if (delivery.dueMs > nowMs) lane.later.push(delivery);
  else lane.ready.push(delivery);
}

/** Moves what may go now among the ready ones, each at its old place: first in, first out. */
export function refresh(lane: Lane, faults: FaultStore, nowMs: number): void {
  for (let next = lane.later.peek(); next !== undefined && next.dueMs <= nowMs; next = lane.later.peek()) {
    lane.later.pop();
    lane.ready.push(next);
  }
  if (lane.heldDown.size > 0 && noticesHeld(faults, lane.rail) === 'none') {
    release(lane, lane.heldDown, () => true);
  }
  release(lane, lane.heldBack, ({ offeredAtMs }) => nowMs - offeredAtMs >= REORDER_LIMIT_MS);
}

/** A later notice has arrived: those that were to be overtaken by it have been. */
export function noteArrival(lane: Lane, arrived: Delivery): void {
  release(lane, lane.heldBack, ({ order }) => order < arrived.order);
}

export function takeBatch({ ready }: Lane): Delivery[] {
  const first = ready.pop();
  if (first === undefined) return [];
  const batch = [first];
  if (travelsAlone(first)) return batch;
  while (batch.length < BATCH_LIMIT) {
    const next = ready.peek();
    if (next === undefined || travelsAlone(next)) break;
    batch.push(next);
    ready.pop();
  }
  return batch;
}

function release(lane: Lane, held: Set<Delivery>, mayGo: (delivery: Delivery) => boolean): void {
  for (const delivery of held) {
    if (!mayGo(delivery)) continue;
    held.delete(delivery);
    lane.ready.push(delivery);
  }
}
