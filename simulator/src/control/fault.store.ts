import type { DirectoryCode } from '../breb/directory.ts';
import type { FaultTarget, Rail } from '../operations.ts';

/** What can strike a call, and a notice as well. */
const CALL_FAULTS = ['down', 'slow', 'hang', 'reset', 'lost-answer'] as const;
/** What can strike a notice alone. */
export const NOTICE_FAULTS = [
  'duplicate',
  'reorder',
  'wrong-amount',
  'unknown-id',
  'bad-signature',
  'lost-notice',
] as const;

/** What can strike a lookup alone: the directory answers with the fault's code. */
export const RESOLVE_FAULTS = ['rejected'] as const;

export const FAULTS = [...CALL_FAULTS, ...NOTICE_FAULTS, ...RESOLVE_FAULTS] as const;

export type CallFault = (typeof CALL_FAULTS | typeof RESOLVE_FAULTS)[number];
export type FaultName = (typeof FAULTS)[number];

export type Fault = {
  readonly id: string;
  readonly rail: Rail;
  /** `*` is every call, not the notices. */
  readonly operation: FaultTarget | '*';
  readonly fault: FaultName;
  /** How long `slow` waits. */
  readonly ms: number;
  /** What `rejected` says. */
  readonly code?: DirectoryCode | undefined;
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
export function nextFault(
  store: FaultStore,
  rail: Rail,
  target: FaultTarget,
  canStrike: (fault: Fault) => boolean = () => true,
): Fault | null {
  for (const fault of store.faults.values()) {
    if (isAimed(fault, rail, target) && fault.times !== 0 && canStrike(fault)) return fault;
  }
  return null;
}

function isAimed({ rail, operation }: Fault, aimedRail: Rail, target: FaultTarget): boolean {
  return rail === aimedRail && (operation === target || (operation === '*' && target !== 'notice'));
}

/** How far a rail's notices are held back: those that the fault struck, or every one there is. */
export function noticesHeld(store: FaultStore, rail: Rail): 'none' | 'struck' | 'all' {
  let held: 'none' | 'struck' = 'none';
  for (const fault of store.faults.values()) {
    if (fault.fault !== 'down' || !isAimed(fault, rail, 'notice')) continue;
    if (fault.times === null) return 'all';
    held = 'struck';
  }
  return held;
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
