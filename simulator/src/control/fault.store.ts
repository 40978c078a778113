import type { Operation, Rail } from '../operations.ts';

type FaultKind = 'down' | 'slow' | 'hang' | 'reset' | 'lost-answer';

export type Fault = {
  readonly id: string;
  readonly rail: Rail;
  readonly operation: Operation | '*';
  readonly fault: FaultKind;
  /** How long `slow` waits. */
  readonly ms: number;
  /** How often it still strikes; null until removed. At 0 it stays listed, for a hung call may hang on it. */
  times: number | null;
  applied: number;
};

export type FaultStore = {
  readonly faults: Map<string, Fault>;
  /** How to let go of the calls that hang, by the fault that holds them. Not journaled: sockets die with us. */
  readonly hung: Map<string, Set<() => void>>;
};

export function noFaults(): FaultStore {
  return { faults: new Map(), hung: new Map() };
}

export function addFault(store: FaultStore, fault: Fault): void {
  store.faults.set(fault.id, fault);
}

/** The oldest that matches strikes, so faults with `times` can be lined up as a script. */
export function nextFault(store: FaultStore, rail: Rail, operation: Operation): Fault | null {
  for (const fault of store.faults.values()) {
    const aimed = fault.rail === rail && (fault.operation === '*' || fault.operation === operation);
    if (aimed && fault.times !== 0) return fault;
  }
  return null;
}

export function noteApplied(store: FaultStore, id: string): void {
  const fault = store.faults.get(id);
  if (fault === undefined) return;
  fault.applied += 1;
  if (fault.times !== null) fault.times -= 1;
}

/** Null removes all. Calls that hang on a removed fault are cut off; nothing of them was done. */
export function removeFaults(store: FaultStore, id: string | null): number {
  const ids = id === null ? [...store.faults.keys()] : [id].filter((known) => store.faults.has(known));
  for (const removed of ids) {
    store.faults.delete(removed);
    releaseHung(store, removed);
  }
  return ids.length;
}

export function holdHung(store: FaultStore, id: string, release: () => void): () => void {
  const held = store.hung.get(id) ?? new Set();
  store.hung.set(id, held.add(release));
  return () => held.delete(release);
}

export function releaseAllHung(store: FaultStore): void {
  for (const id of store.hung.keys()) releaseHung(store, id);
}

function releaseHung(store: FaultStore, id: string): void {
  const held = store.hung.get(id) ?? new Set();
  store.hung.delete(id);
  for (const release of held) release();
}
