import type { DirectoryCode } from '../breb/directory.ts';
import type { FaultTarget, Rail } from '../operations.ts';

/** Faults that apply to calls and notices. */
const SHARED_FAULTS = ['down', 'slow', 'hang', 'reset', 'lost-answer'] as const;
/** Faults that apply only to calls: the rail accepts nothing now, and says when to try again. */
export const CALL_ONLY_FAULTS = ['rate-limited'] as const;
/** Faults that apply only to notices. */
export const NOTICE_FAULTS = [
  'duplicate',
  'reorder',
  'wrong-amount',
  'unknown-id',
  'bad-signature',
  'lost-notice',
] as const;

/** Faults that apply only to lookups: the directory answers with the fault's code. */
export const RESOLVE_FAULTS = ['rejected'] as const;

export const FAULTS = [...SHARED_FAULTS, ...CALL_ONLY_FAULTS, ...NOTICE_FAULTS, ...RESOLVE_FAULTS] as const;

export type CallFault = (typeof SHARED_FAULTS | typeof CALL_ONLY_FAULTS | typeof RESOLVE_FAULTS)[number];
export type FaultName = (typeof FAULTS)[number];

export type InjectedFault = {
  readonly id: string;
  readonly rail: Rail;
  /** `*` means every call, but no notices. */
  readonly operation: FaultTarget | '*';
  readonly fault: FaultName;
  /** Delay of `slow`. */
  readonly ms: number;
  /** Error code of `rejected`. */
  readonly code?: DirectoryCode | undefined;
  /** Remaining uses; null: until removed. At 0 the fault stays listed, because removing it releases its hung calls. */
  times: number | null;
  applied: number;
};

export type FaultStore = {
  readonly faults: Map<string, InjectedFault>;
  /** Release callbacks of hung calls, by fault id. Not journaled: the sockets end with the process. */
  readonly hung: Map<string, Set<() => void>>;
};

export function emptyFaultStore(): FaultStore {
  return { faults: new Map(), hung: new Map() };
}

export function addFault(store: FaultStore, fault: InjectedFault): void {
  store.faults.set(fault.id, fault);
}

/** Returns the oldest matching fault, so that a test can script a sequence of faults with `times`. */
export function nextFault(
  store: FaultStore,
  rail: Rail,
  target: FaultTarget,
  canApply: (fault: InjectedFault) => boolean = () => true,
): InjectedFault | null {
  for (const fault of store.faults.values()) {
    if (isTargeted(fault, rail, target) && fault.times !== 0 && canApply(fault)) return fault;
  }
  return null;
}

function isTargeted({ rail, operation }: InjectedFault, targetRail: Rail, target: FaultTarget): boolean {
  return rail === targetRail && (operation === target || (operation === '*' && target !== 'notice'));
}

/** Which of a rail's notices the fault `down` holds: none, those it was applied to, or all. */
export function noticesHeld(store: FaultStore, rail: Rail): 'none' | 'affected' | 'all' {
  let held: 'none' | 'affected' = 'none';
  for (const fault of store.faults.values()) {
    if (fault.fault !== 'down' || !isTargeted(fault, rail, 'notice')) continue;
    if (fault.times === null) return 'all';
    held = 'affected';
  }
  return held;
}

export function markFaultApplied(store: FaultStore, id: string): void {
  const fault = store.faults.get(id);
  if (fault === undefined) return;
  fault.applied += 1;
  if (fault.times !== null) fault.times -= 1;
}

/** A null id removes all faults. Closes the connections of calls hung by a removed fault; they were not executed. */
export function removeFaults(store: FaultStore, id: string | null): number {
  const ids =
    id === null ? [...store.faults.keys()] : [id].filter((candidate) => store.faults.has(candidate));
  for (const faultId of ids) {
    store.faults.delete(faultId);
    releaseHung(store, faultId);
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
