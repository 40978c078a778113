import { Heap } from './heap.ts';

/**
 * An action due at a time of the simulator's clock. The stores schedule it, on replay too. When it is due, it is
 * checked against the state and skipped if already done. So the schedule is not journaled, and a restart repeats
 * nothing.
 */
export type Due = { readonly dueMs: number } & (
  | { readonly act: 'pay-key'; readonly key: string; readonly nth: number }
  | { readonly act: 'pay-late'; readonly key: string }
  | { readonly act: 'end-key'; readonly key: string }
  | { readonly act: 'settle-order'; readonly endToEndId: string }
  | { readonly act: 'end-transaction'; readonly reference: string }
  | { readonly act: 'approve-left'; readonly reference: string }
  | { readonly act: 'fail-unopened'; readonly reference: string }
  | { readonly act: 'fail-unfinished'; readonly reference: string }
);

export type Schedule = Heap<Due>;

export function emptySchedule(): Schedule {
  return new Heap((a, b) => a.dueMs < b.dueMs);
}

/** Removes and returns the due actions, oldest first. */
export function takeDue(schedule: Schedule, nowMs: number, limit: number): Due[] {
  const taken: Due[] = [];
  while (taken.length < limit) {
    const first = schedule.peek();
    if (first === undefined || first.dueMs > nowMs) break;
    taken.push(first);
    schedule.pop();
  }
  return taken;
}
